"""Protobuf schemas: what is one, one text for one meaning, and what may follow what."""

from typing import Any

import pytest
from unit.schemas.given import found, proto

from samsa.schemas.budget import Budget
from samsa.schemas.contents import NamedText
from samsa.schemas.errors import BadSchema, BadValue

LONG = """
edition = "2023"; // a comment
package a.b; /* another * one */
import public "google/protobuf/timestamp.proto";
import "money.proto";
option java_package = "com.example";
option (mine).deep = { a: 1 b: [ "x", "y" ] };
message Order {
  option deprecated = true;
  message Line { int32 count = 1; reserved 4, 6 to 8, 100 to max; reserved gone; }
  enum State { option allow_alias = true; NEW = 0; OPEN = 0; DONE = 0x10 [deprecated = true]; }
  extensions 200 to 299;
  repeated Line lines = 1;
  map<string, .a.b.Order.Line> by_name = 2;
  State state = 3 [json_name = "theState", (mine).other = "x"];
  google.protobuf.Timestamp at = 4;
  oneof paid { string by_card = 5; Money in_cash = 6; }
}
extend Order { string note = 200; }
service Shop {
  rpc Buy (Order) returns (stream Order) { option deprecated = true; }
  rpc Watch (stream Order) returns (.a.b.Order);
}
"""
MONEY = NamedText(
    "money.proto", 'syntax = "proto3"; package a.b; message Money { int64 cents = 1; }'
)
OLD = """
syntax = "proto2";
message M {
  required int32 a = 1 [default = -0x10];
  optional string b = 2 [default = "x\\"\\n"];
  optional group G = 3 { optional bool c = 1; }
  repeated double d = 4 [packed = true];
  extensions 100 to max;
}
extend M { optional int32 e = 100; }
"""


def message(body: str, syntax: str = "proto3") -> Any:
    return proto(f'syntax = "{syntax}"; message M {{ {body} }}')


def test_a_schema_its_normal_form_and_its_descriptor_are_the_same():
    one = proto(LONG, MONEY)
    again = proto(one.normalized, MONEY)
    serialized = proto(one.serialized(), MONEY)
    assert one.normalized == again.normalized == serialized.normalized == serialized.text
    assert one.text == LONG.strip()
    for word in (
        "6 to 8",
        "100 to max",
        "DONE = 16 [deprecated = true]",
        "rpc Watch (stream .a.b.Order)",
        "map<string, .a.b.Order.Line> by_name = 2;",
        '[json_name = "theState"]',
        "oneof paid {",
    ):
        assert word in one.normalized
    assert "mine" not in one.normalized


def test_the_older_syntax_too():
    one = proto(OLD)
    assert proto(one.normalized).normalized == one.normalized
    assert "optional group G = 3 {" in one.normalized
    assert one.decode(one.encode({"a": 1, "g": {"c": True}, "d": [1, 2]}, Budget())) == {
        "a": 1, "g": {"c": True}, "d": [1.0, 2.0],
    }  # fmt: skip


def test_names_that_are_words_of_the_language_are_names():
    one = message(
        "int32 message = 1; string option = 2; bool repeated = 3; stream reserved = 4;"
        "message stream { } optional int32 to = 5; map map = 6; message map { }"
    )
    assert one.decode(one.encode({"message": 1, "option": "x", "reserved": {}}, Budget())) == {
        "message": 1, "option": "x", "reserved": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "message",
        "message M {",
        'syntax = "proto4";',
        "message M { int32 a = 1; int32 a = 2; }",
        "message M { int32 a = 1; int32 b = 1; }",
        "message M { Nothing a = 1; }",
        "message M { int32 a = 0; }",
        "message M { int32 a = 99999999999999999999999999999999; }",
        'syntax = "proto3"; message M { required int32 a = 1; }',
        'import "other.proto";',
        "enum E { }",
        "message M { int32 a = 1 [deprecated = maybe]; }",
        "§",
        '"',
        "/* never closed",
        "message M {" * 300 + "}" * 300,
        "AAAA",
    ],
)
def test_what_is_no_schema_is_refused(text: str):
    with pytest.raises(BadSchema):
        proto(text)


MAY_FOLLOW = [
    ("a field more", "int32 a = 1; int32 b = 2;", "int32 a = 1;"),
    ("a field less", "int32 a = 1;", "int32 a = 1; int32 b = 2;"),
    ("another name", "int32 b = 1;", "int32 a = 1;"),
    ("another type of the same kind", "uint64 a = 1;", "int32 a = 1;"),
    ("an enumeration", "E a = 1; enum E { Z = 0; }", "int32 a = 1;"),
    ("bytes", "bytes a = 1;", "string a = 1;"),
    ("repeated text", "repeated string a = 1;", "string a = 1;"),
    ("a field into a new oneof", "oneof o { int32 a = 1; }", "int32 a = 1;"),
    ("an alternative more", "oneof o { int32 a = 1; int32 b = 2; }", "oneof o { int32 a = 1; }"),
    ("optional", "optional int32 a = 1;", "int32 a = 1;"),
    ("a message more", "message N { }", ""),
]
MAY_NOT_FOLLOW = [
    ("FIELD_SCALAR_KIND_CHANGED", "string a = 1;", "int32 a = 1;"),
    ("FIELD_SCALAR_KIND_CHANGED", "sint32 a = 1;", "int32 a = 1;"),
    ("FIELD_KIND_CHANGED", "N a = 1; message N { }", "int32 a = 1;"),
    (
        "FIELD_NAMED_TYPE_CHANGED",
        "N a = 1; message N { } message P { }",
        "P a = 1; message N { } message P { }",
    ),
    ("FIELD_NUMERIC_LABEL_CHANGED", "repeated int32 a = 1;", "int32 a = 1;"),
    ("MESSAGE_REMOVED", "", "message N { }"),
    ("ONEOF_FIELD_REMOVED", "oneof o { int32 a = 1; }", "oneof o { int32 a = 1; int32 b = 2; }"),
    (
        "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
        "oneof o { int32 a = 1; int32 b = 2; }",
        "int32 a = 1; int32 b = 2;",
    ),
    (
        "FIELD_MOVED_TO_EXISTING_ONEOF",
        "oneof o { int32 a = 1; int32 b = 2; }",
        "oneof o { int32 a = 1; } int32 b = 2;",
    ),
    ("FIELD_SCALAR_KIND_CHANGED", "map<string, string> a = 1;", "map<string, int32> a = 1;"),
]


@pytest.mark.parametrize(
    ("new", "old"), [each[1:] for each in MAY_FOLLOW], ids=[m[0] for m in MAY_FOLLOW]
)
def test_a_reader_takes(new: str, old: str):
    assert found(message(new), message(old)) == []


@pytest.mark.parametrize(("problem", "new", "old"), MAY_NOT_FOLLOW)
def test_a_reader_does_not_take(problem: str, new: str, old: str):
    assert found(message(new), message(old)) == [problem]


@pytest.mark.parametrize(
    ("problem", "new", "old"),
    [
        ("REQUIRED_FIELD_ADDED", "required int32 a = 1;", ""),
        ("REQUIRED_FIELD_REMOVED", "", "required int32 a = 1;"),
        ("REQUIRED_FIELD_ADDED", "required int32 a = 1;", "optional int32 a = 1;"),
    ],
)
def test_what_is_required_stays_required(problem: str, new: str, old: str):
    assert found(message(new, "proto2"), message(old, "proto2")) == [problem]


def test_the_package_may_change():
    one, other = (
        proto(f'syntax = "proto3"; package {p}; message M {{ N n = 1; }} message N {{ }}')
        for p in "ab"
    )
    assert found(one, other) == []


def test_a_value_names_its_message_by_numbers():
    schema = proto(LONG, MONEY)
    line = b"\x04\x00\x00\x08\x05"  # two numbers: message 0, and in it message 0, the line
    assert schema.decode(line) == {"count": 5}
    assert schema.decode(b"\x00") == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x02",
        b"\x02\x0a",
        b"\xff\xff\xff\xff\xff\xff",
        b"\x7e",
        b"\x00\xff",
        b"\x02\x01",
        b"\x00\x0a\x7f",
    ],
)
def test_bytes_that_are_no_value_are_refused(data: bytes):
    with pytest.raises(BadValue):
        proto(LONG, MONEY).decode(data)


@pytest.mark.parametrize("value", [{"unknown": 1}, {"lines": 1}, [], "x", {"state": "NO"}, None])
def test_values_that_do_not_fit_are_refused(value: Any):
    with pytest.raises(BadValue):
        proto(LONG, MONEY).encode(value, Budget())
