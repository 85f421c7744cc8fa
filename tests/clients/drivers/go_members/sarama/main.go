// A member of a group by sarama: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...].
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

	"github.com/IBM/sarama"
)

type handler struct{}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			fmt.Println(message.Partition, message.Offset)
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config := sarama.NewConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	for _, setting := range os.Args[4:] {
		name, value, _ := strings.Cut(setting, "=")
		set(config, name, value)
	}
	group, err := sarama.NewConsumerGroup([]string{os.Args[1]}, os.Args[2], config)
	if err != nil {
		panic(err)
	}
	for ctx.Err() == nil {
		if err := group.Consume(ctx, []string{os.Args[3]}, handler{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
	if err := group.Close(); err != nil {
		panic(err)
	}
}

func set(config *sarama.Config, name, value string) {
	switch name {
	case "session.timeout.ms":
		ms, err := strconv.Atoi(value)
		if err != nil {
			panic(err)
		}
		config.Consumer.Group.Session.Timeout = time.Duration(ms) * time.Millisecond
	case "balancer":
		strategies := map[string]sarama.BalanceStrategy{"sticky": sarama.NewBalanceStrategySticky()}
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[value]}
	default:
		panic("no setting " + name)
	}
}
