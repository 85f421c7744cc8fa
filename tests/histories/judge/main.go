// Judge says whether histories of appends and reads are linearizable.
//
//	judge [--seconds 60] HISTORY.jsonl ...
//
// Each line of a history is one operation on one partition. Partitions are judged apart. It ends
// with 0 if all are legal, 1 if one is not (with a text, and an HTML picture beside the history), 2
// if the time was up before, and 3 if a history cannot be read.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	legal = iota
	illegal
	undecided
	unreadable
)

func main() {
	limit := flag.Float64("seconds", 60, "time for each partition")
	flag.Parse()
	worst := legal
	for _, path := range flag.Args() {
		worst = max(worst, judgeFile(path, time.Duration(*limit*float64(time.Second))))
	}
	os.Exit(worst)
}

func judgeFile(path string, limit time.Duration) int {
	began := time.Now()
	operations, err := readHistory(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return unreadable
	}
	worst, count := legal, 0
	for _, partition := range sortedKeys(operations) {
		count += len(operations[partition])
		found := judge(operations[partition], partition, limit)
		switch found.result {
		case porcupine.Illegal:
			worst = illegal
			tell(found, path, limit)
		case porcupine.Unknown:
			fmt.Printf("partition %d: undecided after %v\n", partition, limit)
			if worst == legal {
				worst = undecided
			}
		}
	}
	words := [...]string{"legal", "illegal", "undecided"}
	fmt.Printf("%s: %d operations on %d partitions, judged in %.2f s\n",
		words[worst], count, len(operations), time.Since(began).Seconds())
	return worst
}

func tell(found verdict, path string, limit time.Duration) {
	picture := fmt.Sprintf("%s-%d.html", strings.TrimSuffix(path, ".jsonl"), found.partition)
	text, err := explain(found, picture, limit)
	fmt.Print(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func sortedKeys(operations map[int][]operation) []int {
	var keys []int
	for key := range operations {
		keys = append(keys, key)
	}
	sort.Ints(keys)
	return keys
}
