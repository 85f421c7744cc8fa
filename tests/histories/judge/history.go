package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

const (
	kindAppend = "append"
	kindRead   = "read"
	kindEnd    = "end"
)

// operation is one line of a history. Without a result its outcome is unknown: a read or an end is
// then worth nothing, and an append may take effect at any time after its call, or never.
type operation struct {
	Process   int       `json:"process"`
	Client    int       `json:"client"`
	Partition int       `json:"partition"`
	Kind      string    `json:"kind"`
	Arguments arguments `json:"arguments"`
	Result    *result   `json:"result"`
	Error     string    `json:"error"`
	Invoked   int64     `json:"invoked"`
	Returned  *int64    `json:"returned"`
}

type arguments struct {
	// Values of an append: one batch, stored whole or not at all. The same values again are the
	// same append sent once more by an idempotent producer.
	Values []string `json:"values"`
	// Offset that a read starts from.
	Offset int64 `json:"offset"`
}

type result struct {
	// Offset of an append's first value.
	Offset int64 `json:"offset"`
	// Offsets and Values that a read returned, in order. It covers all up to Through.
	Offsets []int64  `json:"offsets"`
	Values  []string `json:"values"`
	Through int64    `json:"through"`
	// End of the log, of a read and of an end.
	End int64 `json:"end"`
}

// readHistory returns the operations of each partition, in the order of the file.
func readHistory(path string) (map[int][]operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := json.NewDecoder(bufio.NewReader(file))
	lines.DisallowUnknownFields()
	found := map[int][]operation{}
	for number := 1; ; number++ {
		var one operation
		if err := lines.Decode(&one); err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if err := one.check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		found[one.Partition] = append(found[one.Partition], one)
	}
}

func (o operation) check() error {
	switch {
	case o.Kind != kindAppend && o.Kind != kindRead && o.Kind != kindEnd:
		return fmt.Errorf("there is no kind %q", o.Kind)
	case (o.Result == nil) != (o.Returned == nil):
		return fmt.Errorf("a result and the time of its return come together")
	case o.Returned != nil && *o.Returned < o.Invoked:
		return fmt.Errorf("it returned before it was invoked")
	case o.Kind == kindAppend && len(o.Arguments.Values) == 0:
		return fmt.Errorf("an append has values")
	case o.Result != nil && len(o.Result.Offsets) != len(o.Result.Values):
		return fmt.Errorf("each value that was read has an offset")
	}
	return nil
}
