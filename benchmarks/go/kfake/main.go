// kfake beside Samsa: franz-go's imitation of Kafka, started as a program, or many times in one.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port := flag.Int("port", 0, "where it listens")
	clusters := flag.Int("clusters", 0, "make so many fresh clusters, print the milliseconds of each")
	flag.Parse()
	for range *clusters {
		started := time.Now()
		open(0).Close()
		fmt.Println(float64(time.Since(started).Microseconds()) / 1000)
	}
	if *clusters > 0 {
		return
	}
	cluster := open(*port)
	defer cluster.Close()
	fmt.Println("ready", cluster.ListenAddrs()[0])
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}

func open(port int) *kfake.Cluster {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.Ports(port), kfake.AllowAutoTopicCreation())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return cluster
}
