package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
)

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func (d driver) produce(ctx context.Context, asked request) ([]int64, error) {
	// Topics made by writing to them are the one thing that franz-go does only when told.
	options := []kgo.Opt{kgo.ProducerBatchCompression(codecs[asked.Codec]), kgo.AllowAutoTopicCreation()}
	if asked.Partition != nil {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	if asked.MaxBytes > 0 {
		options = append(options, kgo.ProducerBatchMaxBytes(asked.MaxBytes))
	}
	client, err := d.client(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	sent := make([]*kgo.Record, 0, len(asked.Records))
	for _, one := range asked.Records {
		sent = append(sent, one.toSend(asked.Topic, asked.Partition))
	}
	if err := client.ProduceSync(ctx, sent...).FirstErr(); err != nil {
		return nil, err
	}
	offsets := make([]int64, 0, len(sent))
	for _, one := range sent {
		offsets = append(offsets, one.Offset)
	}
	return offsets, nil
}

func (d driver) consume(ctx context.Context, asked request) ([]record, error) {
	options := from(asked)
	if asked.Isolation == "read_committed" {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	client, err := d.client(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	found := make([]record, 0, asked.Count)
	for len(found) < asked.Count {
		fetches := client.PollRecords(ctx, asked.Count-len(found))
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("%d of %d records came: %w", len(found), asked.Count, err)
		}
		fetches.EachRecord(func(one *kgo.Record) { found = append(found, received(one)) })
	}
	return found, nil
}

func from(asked request) []kgo.Opt {
	at := start(asked.Start)
	if asked.Partition == nil {
		return []kgo.Opt{kgo.ConsumeTopics(asked.Topic), kgo.ConsumeResetOffset(at)}
	}
	one := map[int32]kgo.Offset{*asked.Partition: at}
	return []kgo.Opt{kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{asked.Topic: one})}
}

func start(asked any) kgo.Offset {
	switch asked {
	case "earliest":
		return kgo.NewOffset().AtStart()
	case "latest":
		return kgo.NewOffset().AtEnd()
	}
	return kgo.NewOffset().AfterMilli(int64(asked.(float64)))
}
