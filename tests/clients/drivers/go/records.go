package main

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// encoding/json writes []byte as base64 and a nil slice as null, which is what the other side reads.
type record struct {
	Key       []byte   `json:"key"`
	Value     []byte   `json:"value"`
	Headers   []header `json:"headers"`
	Timestamp *int64   `json:"timestamp"`
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
}

func (r record) toSend(topic string, partition *int32) *kgo.Record {
	sent := &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value}
	if partition != nil {
		sent.Partition = *partition
	}
	if r.Timestamp != nil {
		sent.Timestamp = time.UnixMilli(*r.Timestamp)
	}
	for _, one := range r.Headers {
		sent.Headers = append(sent.Headers, kgo.RecordHeader{Key: one.name, Value: one.value})
	}
	return sent
}

func received(r *kgo.Record) record {
	timestamp := r.Timestamp.UnixMilli()
	headers := make([]header, 0, len(r.Headers))
	for _, one := range r.Headers {
		headers = append(headers, header{one.Key, one.Value})
	}
	return record{r.Key, r.Value, headers, &timestamp, r.Partition, r.Offset}
}
