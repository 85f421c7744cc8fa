package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A topic and a partition.
type place struct {
	topic     string
	partition int32
}

func (p *place) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&p.topic, &p.partition})
}

// Transactional producers, each by its name, from one operation to the next. Offsets go through
// a session of franz-go's own, which its own tests exercise.
func (d driver) transact(ctx context.Context, asked request) error {
	if asked.Op == "open_producer" {
		return d.openProducer(ctx, asked)
	}
	producer := d.producers[asked.Producer]
	switch asked.Op {
	case "begin":
		return producer.BeginTransaction()
	case "send":
		return sendAll(ctx, producer, asked)
	case "commit":
		return producer.EndTransaction(ctx, kgo.TryCommit)
	case "abort":
		return producer.EndTransaction(ctx, kgo.TryAbort)
	case "close_producer":
		delete(d.producers, asked.Producer)
		producer.Close()
		return nil
	}
	return fmt.Errorf("no operation %q", asked.Op)
}

func (d driver) openProducer(ctx context.Context, asked request) error {
	producer, err := d.client(
		kgo.TransactionalID(asked.ID),
		kgo.TransactionTimeout(time.Duration(asked.TimeoutMs)*time.Millisecond),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		return err
	}
	d.producers[asked.Producer] = producer
	// Otherwise the id is asked for with the first record.
	_, _, err = producer.ProducerID(ctx)
	return err
}

func sendAll(ctx context.Context, producer *kgo.Client, asked request) error {
	var sent []*kgo.Record
	for _, at := range asked.Places {
		for _, value := range asked.Values {
			sent = append(sent, &kgo.Record{Topic: at.topic, Partition: at.partition, Value: []byte(value)})
		}
	}
	return producer.ProduceSync(ctx, sent...).FirstErr()
}
