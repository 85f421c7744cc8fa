"""Schemas that take as much work as they may, and more."""

import json
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from server.process import Samsa
from server.test_http import Http

PARALLEL = 4
FIELDS = 9_000
TWICE = {f"d{n}": {"anyOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2} for n in range(13)}


def wide(kind: str) -> str:
    union = ["null", "string", "boolean", kind]
    fields = [{"name": f"f{n}", "type": union, "default": None} for n in range(FIELDS)]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def doubling(leaf: dict[str, Any]) -> str:
    return json.dumps({"definitions": {**TWICE, "d13": leaf}, "$ref": "#/definitions/d0"})


SCHEMAS = [
    ("AVRO", wide("int")),
    ("AVRO", wide("long")),
    ("AVRO", '{"type":"array","items":' * 40_000),
    (
        "AVRO",
        json.dumps(
            ["null", *({"type": "fixed", "name": f"F{n}", "size": 1} for n in range(20_000))]
        ),
    ),
    ("JSON", doubling({"type": "string"})),
    ("JSON", doubling({"type": "string", "maxLength": 3})),
    ("JSON", '{"not":' * 100_000),
    ("JSON", json.dumps({"type": "string", "pattern": "(a{1000}){1000}"})),
    ("JSON", json.dumps({"enum": [f"value {n}" for n in range(60_000)]})),
    ("PROTOBUF", 'syntax = "proto3";' + "".join(f"message M{n} {{ }}" for n in range(14_000))),
    ("PROTOBUF", "message M {" * 80_000),
    ("PROTOBUF", "/*" + "*" * 900_000),
    ("PROTOBUF", "(" * 900_000),
]


def schemas_of_a_megabyte(samsa: Samsa) -> None:
    """Each is registered twice, compared with all others of its subject, and looked up."""
    http = Http(samsa)
    http("PUT", "/config", {"compatibility": "FULL_TRANSITIVE"})

    def ask(given: tuple[str, str]) -> set[int]:
        kind, schema = given
        subject, refused = f"subjects/{kind}", set()
        for path in (f"{subject}/versions", f"compatibility/{subject}/versions", subject):
            try:
                http("POST", f"/{path}", {"schema": schema, "schemaType": kind})
            except urllib.error.HTTPError as error:
                refused.add(error.code)
        return refused

    with ThreadPoolExecutor(PARALLEL) as pool:
        assert set().union(*pool.map(ask, SCHEMAS)) <= {404, 409, 422}


def a_topic_of_schemas_that_are_none(samsa: Samsa) -> None:
    """Records that are no schemas, and records that nearly are."""
    http = Http(samsa)
    http("GET", "/subjects")
    body = {"schema": '"int"'}
    first = http("POST", "/subjects/first/versions", body)["id"]
    key = {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1}
    records = [
        {"key": json.dumps({**key, "version": n}), "value": "[" * 200 + f"{n}"}
        for n in range(5_000)
    ]
    http("POST", "/topics/_schemas/records", {"records": records})
    deep = [{"key": "[" * 100_000, "value": "x"}, {"key": json.dumps(key), "value": "{" * 500_000}]
    http("POST", "/topics/_schemas/records", {"records": deep})
    assert http("GET", "/subjects") == ["first"]
    assert http("POST", "/subjects/first/versions", body)["id"] == first
