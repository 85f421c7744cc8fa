package main

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
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

func (d driver) addPartitions(ctx context.Context, asked request) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer admin.Close()
	told, err := admin.UpdatePartitions(ctx, int(asked.Partitions), asked.Topic)
	if err != nil {
		return err
	}
	return told.Error()
}

func (d driver) ownConfigs(ctx context.Context, topic string) (map[string]string, error) {
	admin, err := d.admin()
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	found, err := admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	described, err := found.On(topic, nil)
	if err != nil {
		return nil, err
	}
	own := make(map[string]string)
	for _, one := range described.Configs {
		if one.Source == kmsg.ConfigSourceDynamicTopicConfig {
			own[one.Key] = one.MaybeValue()
		}
	}
	return own, described.Err
}

func (d driver) alterConfigs(ctx context.Context, asked request) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer admin.Close()
	var changes []kadm.AlterConfig
	for name, value := range asked.Config {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: name, Value: &value})
	}
	told, err := admin.AlterTopicConfigs(ctx, changes, asked.Topic)
	if err != nil {
		return err
	}
	_, err = told.On(asked.Topic, func(one *kadm.AlterConfigsResponse) error { return one.Err })
	return err
}

func (d driver) deleteRecords(ctx context.Context, asked request) error {
	admin, err := d.admin()
	if err != nil {
		return err
	}
	defer admin.Close()
	var before kadm.Offsets
	before.AddOffset(asked.Topic, *asked.Partition, asked.Offset, -1)
	told, err := admin.DeleteRecords(ctx, before)
	if err != nil {
		return err
	}
	return told.Error()
}
