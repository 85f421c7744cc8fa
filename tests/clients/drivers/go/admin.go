package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

type cluster struct {
	Brokers []string       `json:"brokers"`
	Topics  map[string]int `json:"topics"`
}

func (d driver) admin() (*kadm.Client, error) {
	client, err := d.client()
	if err != nil {
		return nil, err
	}
	return kadm.NewClient(client), nil
}

func (d driver) createTopic(ctx context.Context, asked request) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer admin.Close()
	config := make(map[string]*string)
	for name, value := range asked.Config {
		config[name] = &value
	}
	_, err = admin.CreateTopic(ctx, asked.Partitions, 1, config, asked.Topic)
	return err
}

func (d driver) deleteTopic(ctx context.Context, topic string) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer admin.Close()
	_, err = admin.DeleteTopic(ctx, topic)
	return err
}

func (d driver) describe(ctx context.Context) (*cluster, error) {
	admin, err := d.admin()
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	metadata, err := admin.Metadata(ctx)
	if err != nil {
		return nil, err
	}
	found := &cluster{Topics: make(map[string]int)}
	for _, one := range metadata.Brokers {
		found.Brokers = append(found.Brokers, fmt.Sprintf("%s:%d", one.Host, one.Port))
	}
	for name, topic := range metadata.Topics {
		found.Topics[name] = len(topic.Partitions)
	}
	return found, nil
}
