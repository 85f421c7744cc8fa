// franz-go's client of schema registries: `driver URL SUBJECT`. It makes every kind of call, and prints
// what it was told as JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/sr"
)

type order struct {
	ID int `json:"id"`
}

var told = map[string]any{}

func note(name string, value any, err error) {
	var refused *sr.ResponseError
	switch {
	case errors.As(err, &refused):
		told[name] = map[string]any{"status": refused.StatusCode, "code": refused.ErrorCode}
	case err != nil:
		told[name] = err.Error()
	default:
		told[name] = value
	}
}

func main() {
	url, subject := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := sr.NewClient(sr.URLs(url))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	types, err := client.SupportedTypes(ctx)
	note("types", len(types), err)
	avro := sr.Schema{Schema: `{"type":"record","name":"O","fields":[{"name":"id","type":"int"}]}`}
	first, err := client.CreateSchema(ctx, subject, avro)
	note("created", first.Version, err)
	wider := sr.Schema{Schema: `{"type":"record","name":"O","fields":[{"name":"id","type":"long"}]}`}
	other := sr.Schema{Schema: `"string"`}
	check, err := client.CheckCompatibility(ctx, subject, -1, wider)
	note("wider fits", check.Is, err)
	check, err = client.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), subject, -1, other)
	note("other fits", check.Is, err)
	note("other says why", len(check.Messages) > 0, err)
	_, err = client.CreateSchema(ctx, subject, other)
	note("other", nil, err)
	second, err := client.CreateSchema(ctx, subject, wider)
	note("second", second.Version, err)
	found, err := client.LookupSchema(ctx, subject, avro)
	note("looked up", found.Version, err)
	text, err := client.SchemaTextByID(ctx, second.ID)
	note("text", text == wider.Schema, err)
	subjects, err := client.SubjectsByID(ctx, second.ID)
	note("subjects", subjects, err)
	versions, err := client.SubjectVersions(ctx, subject)
	note("versions", versions, err)
	all, err := client.Schemas(ctx, subject)
	note("schemas", len(all), err)
	_, err = client.SchemaByID(ctx, 1_000_000)
	note("unknown", nil, err)

	references := []sr.SchemaReference{{Name: "O", Subject: subject, Version: 2}}
	list := sr.Schema{Schema: `{"type":"array","items":"O"}`, References: references}
	_, err = client.CreateSchema(ctx, subject+"-list", list)
	note("with a reference", true, err)
	referring, err := client.SchemaReferences(ctx, subject, 2)
	note("referring", len(referring), err)
	_, err = client.DeleteSubject(ctx, subject, sr.SoftDelete)
	note("referred to", nil, err)

	set := client.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, subject)[0]
	note("set", set.Level.String(), set.Err)
	level := client.Compatibility(ctx, subject)[0]
	note("level", level.Level.String(), level.Err)
	mode := client.Mode(ctx)[0]
	note("mode", mode.Mode.String(), mode.Err)

	var serde sr.Serde
	serde.Register(first.ID, order{}, sr.EncodeFn(json.Marshal), sr.DecodeFn(json.Unmarshal))
	encoded, err := serde.Encode(order{ID: 7})
	note("framed", len(encoded) > 5 && encoded[0] == 0, err)

	gone, err := client.DeleteSubject(ctx, subject+"-list", sr.SoftDelete)
	note("deleted", gone, err)
	gone, err = client.DeleteSubject(ctx, subject+"-list", sr.HardDelete)
	note("gone", gone, err)
	_ = json.NewEncoder(os.Stdout).Encode(told)
}
