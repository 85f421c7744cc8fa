package main

import "encoding/json"

// A header is a pair and not an object: names may repeat, and their order counts.
type header struct {
	name  string
	value []byte
}

func (h header) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.name, h.value})
}

func (h *header) UnmarshalJSON(raw []byte) error {
	return json.Unmarshal(raw, &[]any{&h.name, &h.value})
}
