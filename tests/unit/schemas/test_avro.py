"""Avro schemas: what is one, which texts are the same, and what reads what."""

import json
from typing import Any

import pytest
from unit.schemas.given import avro, field, found, record

from samsa.schemas.budget import Budget
from samsa.schemas.compatibility import Level
from samsa.schemas.contents import NamedText
from samsa.schemas.errors import BadSchema, BadValue, TooComplex

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


@pytest.mark.parametrize(
    "schema",
    [
        "strin",
        {"type": "record", "name": "R"},
        {"type": "record", "fields": []},
        record(field("a", "int"), field("a", "int")),
        record(field("a b", "int")),
        record(name="1R"),
        record(name="int"),
        record(field("a", "int", default="x")),
        record(field("a", ["null", "int"], default="x")),
        record(field("a", record(field("b", "int"), name="S"), default={})),
        record(field("a", "long", default=2**63)),
        record(field("a", "int", order="upwards")),
        record(field("a", record()), name="R"),
        {"type": "enum", "name": "E", "symbols": ["A", "A"]},
        {"type": "enum", "name": "E", "symbols": ["A"], "default": "B"},
        {"type": "fixed", "name": "F", "size": -1},
        {"type": "fixed", "name": "F", "size": True},
        {"type": "array"},
        {"type": "map", "items": "int"},
        ["int", "int"],
        ["int", ["null"]],
        {},
        7,
        None,
    ],
)
def test_what_is_no_schema_is_refused(schema: Any):
    with pytest.raises(BadSchema):
        avro(schema)


@pytest.mark.parametrize(
    "one",
    [
        {"fields": [{"type": "int", "name": "a"}], "name": "R", "namespace": "n", "type": "record"},
        {"type": "record", "name": "n.R", "fields": [{"name": "a", "type": {"type": "int"}}]},
        record(field("a", "int", order="ascending"), name="R", namespace="n", aliases=[]),
    ],
)
def test_texts_of_the_same_schema_become_one(one: Any):
    assert avro(one).text == (
        '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"int"}]}'
    )


def test_names_are_as_short_as_their_namespace_allows():
    inner = {"type": "fixed", "name": "F", "size": 2}
    schema = record(field("a", inner), field("b", "n.F"), field("c", ["null", "F"]), namespace="n")
    told = json.loads(avro(schema).text)
    assert [each["type"] for each in told["fields"]] == [inner, "F", ["null", "F"]]
    assert '"n.F"' in avro(schema).normalized


def test_what_avro_does_not_know_is_kept():
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
    schema = record(field("a", decimal, unit="EUR"), owner={"team": ["a"]})
    assert json.loads(avro(schema).text) == schema


READS = [
    ("a promotion", "long", "int"),
    ("text and bytes", "bytes", "string"),
    ("a field that is gone", record(), record(field("a", "int"))),
    ("a field with a default", record(field("a", "int", default=1)), record()),
    ("an alias of a field", record(field("b", "int", aliases=["a"])), record(field("a", "int"))),
    ("an alias of a type", record(name="S", aliases=["R"]), record()),
    ("another namespace", record(namespace="n"), record()),
    ("a type in a union", ["null", "long"], "int"),
    ("a union of one kind", "long", ["int", "long"]),
    ("another order", ["int", "null"], ["null", "int"]),
    ("a new symbol", {**ENUM, "symbols": ["A", "B", "C"]}, ENUM),
    ("a symbol with a default", {**ENUM, "symbols": ["A"], "default": "A"}, ENUM),
    ("items", {"type": "array", "items": "double"}, {"type": "array", "items": "float"}),
    ("a logical type", {"type": "int", "logicalType": "date"}, "int"),
]
DOES_NOT_READ = [
    ("TYPE_MISMATCH", "int", "long"),
    ("TYPE_MISMATCH", "int", "string"),
    ("TYPE_MISMATCH", record(), ENUM),
    ("READER_FIELD_MISSING_DEFAULT_VALUE", record(field("a", "int")), record()),
    ("NAME_MISMATCH", record(name="S"), record()),
    ("MISSING_UNION_BRANCH", ["null", "int"], "string"),
    ("MISSING_UNION_BRANCH", "int", ["null", "int"]),
    ("MISSING_ENUM_SYMBOLS", {**ENUM, "symbols": ["A"]}, ENUM),
    (
        "FIXED_SIZE_MISMATCH",
        {"type": "fixed", "name": "F", "size": 2},
        {"type": "fixed", "name": "F", "size": 3},
    ),
    ("TYPE_MISMATCH", {"type": "map", "values": "int"}, {"type": "map", "values": "string"}),
]


@pytest.mark.parametrize(
    ("reader", "writer"), [each[1:] for each in READS], ids=[r[0] for r in READS]
)
def test_a_reader_takes(reader: Any, writer: Any):
    assert found(avro(reader), avro(writer)) == []
    assert found(avro(writer), avro(reader), Level.FORWARD) == []


@pytest.mark.parametrize(("problem", "reader", "writer"), DOES_NOT_READ)
def test_a_reader_does_not_take(problem: str, reader: Any, writer: Any):
    assert found(avro(reader), avro(writer)) == [problem]
    assert found(avro(writer), avro(reader), Level.FORWARD) == [problem]
    assert problem in found(avro(reader), avro(writer), Level.FULL)


def test_types_that_contain_themselves_are_compared_once():
    def tree(kind: str, name: str = "T") -> Any:
        inner = {"type": "array", "items": name}
        return record(field("v", kind), field("inner", inner), name=name)

    assert found(avro(tree("long")), avro(tree("int"))) == []
    assert found(avro(tree("int")), avro(tree("long"))) == ["TYPE_MISMATCH"]


def test_a_problem_inside_of_a_union_is_not_lost_by_what_was_seen_before():
    """The same pair is met twice: once while it is compared, and once after."""
    old = record(field("a", "int"), field("n", ["null", "R"]))
    new = record(field("n", ["null", "R"]), field("b", "int"))
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in found(avro(new), avro(old))


def test_a_reference_gives_its_types_and_is_not_written_out():
    money = NamedText(
        "n.Money", json.dumps(record(field("cents", "long"), name="Money", namespace="n"))
    )
    order = avro(record(field("total", "n.Money")), money)
    assert json.loads(order.text)["fields"] == [{"name": "total", "type": "n.Money"}]
    assert order.decode(order.encode({"total": {"cents": 5}}, Budget())) == {"total": {"cents": 5}}
    with pytest.raises(BadSchema, match=r"n\.Money"):
        avro(record(field("total", "n.Money")))


def test_a_schema_that_is_nested_without_end_is_refused():
    deep = '{"type":"array","items":' * 900 + '"int"' + "}" * 900
    with pytest.raises(TooComplex):
        avro(json.loads(deep))


def test_a_comparison_that_branches_without_end_is_ended():
    """Each level of a union asks twice for the level below."""

    def nested(depth: int, leaf: str) -> Any:
        kind: Any = leaf
        for n in range(depth):
            kind = record(
                field("l", ["null", kind]),
                field("r", ["null", f"R{n - 1}" if n else "int"]),
                name=f"R{n}",
            )
        return kind

    assert found(avro(nested(40, "long")), avro(nested(40, "int"))) == []


VALUES: list[tuple[Any, Any]] = [
    ("null", None),
    ("boolean", True),
    ("int", -(2**31)),
    ("long", 2**63 - 1),
    ("double", 1.5),
    ("double", "NaN"),
    ("float", "-Infinity"),
    ("bytes", "\x00ÿ"),
    ("string", "Grüße"),
    (ENUM, "B"),
    ({"type": "fixed", "name": "F", "size": 2}, "ab"),
    ({"type": "array", "items": "int"}, [1, 2, 3]),
    ({"type": "map", "values": "int"}, {"a": 1, "b": 2}),
    (["null", "int", "string"], {"string": "x"}),
    (["null", "int"], None),
    (
        record(field("a", "int"), field("n", ["null", "R"])),
        {"a": 1, "n": {"R": {"a": 2, "n": None}}},
    ),
]


@pytest.mark.parametrize(("schema", "value"), VALUES)
def test_a_value_is_read_as_it_was_written(schema: Any, value: Any):
    kind = avro(schema)
    assert json.dumps(kind.decode(kind.encode(value, Budget()))) == json.dumps(value)


def test_defaults_and_the_names_of_a_unions_types_may_be_left_out():
    kind = avro(record(field("a", ["null", "string"], default=None), field("b", "int", default=7)))
    assert kind.decode(kind.encode({"a": "x"}, Budget())) == {"a": {"string": "x"}, "b": 7}
    assert kind.decode(kind.encode({}, Budget())) == {"a": None, "b": 7}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ("int", 2**31),
        ("int", True),
        ("int", 1.5),
        ("string", "\ud800"),
        ("bytes", "€"),
        (ENUM, "C"),
        (record(field("a", "int")), {}),
        (record(field("a", "int")), {"a": 1, "b": 2}),
        (["null", "int"], "x"),
        ({"type": "fixed", "name": "F", "size": 2}, "abc"),
        ("float", 1e300),
    ],
)
def test_a_value_that_does_not_fit_is_refused(schema: Any, value: Any):
    with pytest.raises(BadValue):
        avro(schema).encode(value, Budget())


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ("int", b""),
        ("int", b"\xff" * 11),
        ("string", b"\x7f"),
        ("string", b"\x01"),
        ("string", b"\x02\xff"),
        (ENUM, b"\x04"),
        (["null"], b"\x02"),
        ("int", b"\x02\x02"),
        # As many nulls, or empty records, as there are numbers.
        ({"type": "array", "items": "null"}, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"),
        ({"type": "array", "items": record()}, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"),
    ],
)
def test_bytes_that_are_no_value_are_refused_soon(schema: Any, data: bytes):
    with pytest.raises(BadValue):
        avro(schema).decode(data)


def test_values_that_nest_without_end_are_refused():
    tree = avro(record(field("n", ["null", "R"])))
    with pytest.raises(BadValue, match="levels"):
        tree.decode(b"\x02" * 100_000 + b"\x00")
