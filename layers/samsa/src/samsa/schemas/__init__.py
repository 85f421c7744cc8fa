"""Schemas: what a schema registry knows, without I/O.

Avro, JSON Schema and Protobuf: parsing, one text for equal schemas, compatibility, and values in
the wire format of Confluent's serializers. `state.py` replays the registry's log; `log_records.py`
has the form of its records, which is the usual one, so that another registry can read them.

The libraries for JSON Schema and Protobuf are an optional extra. They are imported with the first
schema of their kind. Schemas and values come from clients, so each piece of work has a `Budget`.
"""
