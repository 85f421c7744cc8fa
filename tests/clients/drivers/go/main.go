// franz-go: a line of JSON in is an operation, a line out is its result.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const patience = 30 * time.Second

type request struct {
	Op         string            `json:"op"`
	Topic      string            `json:"topic"`
	Partition  *int32            `json:"partition"`
	Partitions int32             `json:"partitions"`
	Config     map[string]string `json:"config"`
	Codec      string            `json:"codec"`
	MaxBytes   int32             `json:"maxBytes"`
	Records    []record          `json:"records"`
	Start      any               `json:"start"`
	Count      int               `json:"count"`
	Offset     int64             `json:"offset"`
	Isolation  string            `json:"isolation"`
	Producer   string            `json:"producer"`
	ID         string            `json:"id"`
	TimeoutMs  int               `json:"timeoutMs"`
	Places     []place           `json:"places"`
	Values     []string          `json:"values"`
}

type answer struct {
	OK    any    `json:"ok"`
	Error string `json:"error,omitempty"`
}

type driver struct {
	bootstrap string
	producers map[string]*kgo.Client
}

func main() {
	asked := json.NewDecoder(bufio.NewReader(os.Stdin))
	answers := json.NewEncoder(os.Stdout)
	d := driver{os.Args[1], make(map[string]*kgo.Client)}
	for asked.More() {
		var one request
		if err := asked.Decode(&one); err != nil {
			panic(err)
		}
		if err := answers.Encode(answerTo(d, one)); err != nil {
			panic(err)
		}
	}
}

func answerTo(d driver, asked request) answer {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	found, err := d.perform(ctx, asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{OK: found}
}

func (d driver) perform(ctx context.Context, asked request) (any, error) {
	switch asked.Op {
	case "produce":
		return d.produce(ctx, asked)
	case "consume":
		return d.consume(ctx, asked)
	case "create_topic":
		return nil, d.createTopic(ctx, asked)
	case "delete_topic":
		return nil, d.deleteTopic(ctx, asked.Topic)
	case "add_partitions":
		return nil, d.addPartitions(ctx, asked)
	case "own_configs":
		return d.ownConfigs(ctx, asked.Topic)
	case "alter_configs":
		return nil, d.alterConfigs(ctx, asked)
	case "delete_records":
		return nil, d.deleteRecords(ctx, asked)
	case "describe":
		return d.describe(ctx)
	}
	return nil, d.transact(ctx, asked)
}

func (d driver) client(options ...kgo.Opt) (*kgo.Client, error) {
	secured, err := security()
	if err != nil {
		return nil, err
	}
	options = append(options, secured...)
	return kgo.NewClient(append(options, kgo.SeedBrokers(d.bootstrap))...)
}
