// A member of a group by franz-go: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...].
// It prints the partition and offset of each record.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := []kgo.Opt{
		kgo.SeedBrokers(os.Args[1]),
		kgo.ConsumerGroup(os.Args[2]),
		kgo.ConsumeTopics(os.Args[3]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	for _, setting := range os.Args[4:] {
		name, value, _ := strings.Cut(setting, "=")
		options = append(options, option(name, value)...)
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		panic(err)
	}
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachRecord(func(r *kgo.Record) { fmt.Println(r.Partition, r.Offset) })
	}
	if err := client.CommitUncommittedOffsets(context.Background()); err != nil {
		panic(err)
	}
	client.Close()
}

func option(name, value string) []kgo.Opt {
	switch name {
	case "session.timeout.ms":
		ms, err := strconv.Atoi(value)
		if err != nil {
			panic(err)
		}
		return []kgo.Opt{kgo.SessionTimeout(time.Duration(ms) * time.Millisecond)}
	case "balancer":
		return []kgo.Opt{kgo.Balancers(map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer()}[value])}
	case "group.protocol":
		return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer())}
	}
	panic("no setting " + name)
}
