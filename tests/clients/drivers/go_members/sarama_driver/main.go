// Transactional producers by sarama: a line of JSON in is an operation, a line out is its result.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/IBM/sarama"
)

type request struct {
	Op        string   `json:"op"`
	Producer  string   `json:"producer"`
	ID        string   `json:"id"`
	TimeoutMs int      `json:"timeoutMs"`
	Places    []place  `json:"places"`
	Values    []string `json:"values"`
	Group     string   `json:"group"`
	Topic     string   `json:"topic"`
	Offset    int64    `json:"offset"`
}

// A topic and a partition.
type place struct {
	topic     string
	partition int32
}

func (p *place) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&p.topic, &p.partition})
}

var producers = make(map[string]sarama.SyncProducer)

func main() {
	asked := json.NewDecoder(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for asked.More() {
		var one request
		if err := asked.Decode(&one); err != nil {
			panic(err)
		}
		answer := map[string]any{"ok": nil}
		if err := perform(one); err != nil {
			answer = map[string]any{"error": err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			panic(err)
		}
	}
}

func perform(asked request) error {
	if asked.Op == "open_producer" {
		opened, err := sarama.NewSyncProducer([]string{os.Args[1]}, config(asked))
		producers[asked.Producer] = opened
		return err
	}
	producer := producers[asked.Producer]
	switch asked.Op {
	case "begin":
		return producer.BeginTxn()
	case "send":
		return eachError(producer.SendMessages(messages(asked)))
	case "send_offset":
		offset := &sarama.PartitionOffsetMetadata{Partition: 0, Offset: asked.Offset}
		offsets := map[string][]*sarama.PartitionOffsetMetadata{asked.Topic: {offset}}
		return producer.AddOffsetsToTxn(offsets, asked.Group)
	case "commit":
		return producer.CommitTxn()
	case "abort":
		return producer.AbortTxn()
	case "close_producer":
		delete(producers, asked.Producer)
		return producer.Close()
	}
	return fmt.Errorf("no operation %q", asked.Op)
}

// What sarama says of a failed send is only how many failed.
func eachError(err error) error {
	var failed sarama.ProducerErrors
	if errors.As(err, &failed) {
		return failed[0].Err
	}
	return err
}

func config(asked request) *sarama.Config {
	config := sarama.NewConfig()
	config.Net.MaxOpenRequests = 1
	config.Producer.Idempotent = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Transaction.ID = asked.ID
	config.Producer.Transaction.Timeout = time.Duration(asked.TimeoutMs) * time.Millisecond
	return config
}

func messages(asked request) []*sarama.ProducerMessage {
	var made []*sarama.ProducerMessage
	for _, at := range asked.Places {
		for _, value := range asked.Values {
			made = append(made, &sarama.ProducerMessage{
				Topic: at.topic, Partition: at.partition, Value: sarama.StringEncoder(value),
			})
		}
	}
	return made
}
