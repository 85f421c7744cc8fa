"""Avro of ours and of others: fastavro's encoding, and the comparisons of Apache's library."""

import io
import json
from typing import Any

import fastavro
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from avro.schema import parse as apache
from hypothesis import given, settings
from hypothesis import strategies as st

from samsa.schemas.avro_types import RANGES, AvroType
from samsa.schemas.budget import Budget
from samsa.schemas.compatibility import Level, problems
from samsa.schemas.contents import SchemaKind
from samsa.schemas.errors import BadSchema, BadValue
from samsa.schemas.parsing import parse

PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
NAMES = st.sampled_from(["a", "b", "c", "d"])
DEFAULTS: dict[Any, Any] = {"null": None, "boolean": True, "string": "x", "bytes": "\xff"}


FINITE = {"allow_nan": False, "allow_infinity": False}
LEAVES: dict[str, Any] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(*RANGES["int"]),
    "long": st.integers(*RANGES["long"]),
    "float": st.floats(width=32, **FINITE),
    "double": st.floats(**FINITE),
    "string": st.text(),
}


class Drawing:
    """A schema. Named types get a number, so that none is defined twice."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._named = 0

    def schema(self, depth: int = 0) -> Any:
        kinds = [*PRIMITIVES, "enum", "fixed"]
        if depth < 3:
            kinds += ["array", "map", "record", "record", "union"]
        kind = self._draw(st.sampled_from(kinds))
        if kind in ("enum", "fixed", "record"):
            return self._named_type(kind, depth)
        if kind in ("array", "map"):
            inner = "items" if kind == "array" else "values"
            return {"type": kind, inner: self.schema(depth + 1)}
        if kind == "union":
            some = st.lists(st.sampled_from(PRIMITIVES), min_size=1, max_size=4, unique=True)
            return self._draw(some)
        return kind

    def _named_type(self, kind: str, depth: int) -> Any:
        self._named += 1
        found: dict[str, Any] = {"type": kind, "name": f"N{self._named}"}
        if kind == "enum":
            found["symbols"] = self._draw(st.lists(NAMES, min_size=1, unique=True))
        elif kind == "fixed":
            found["size"] = self._draw(st.integers(0, 3))
        else:
            names = self._draw(st.lists(NAMES, max_size=3, unique=True))
            found["fields"] = [self._field(name, depth + 1) for name in names]
        return found

    def _field(self, name: str, depth: int) -> Any:
        kind = self.schema(depth)
        field = {"name": name, "type": kind}
        if isinstance(kind, str) and self._draw(st.booleans()):
            field["default"] = DEFAULTS.get(kind, 1)
        return field


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    return Drawing(draw).schema()


def value_of(kind: AvroType, draw: st.DrawFn) -> tuple[Any, Any]:
    """In JSON, and as fastavro takes it."""
    if kind.kind in LEAVES:
        value = draw(LEAVES[kind.kind])
        return value, value
    if kind.kind in ("bytes", "fixed"):
        size = {"min_size": kind.size, "max_size": kind.size} if kind.kind == "fixed" else {}
        data = draw(st.binary(**size))
        return data.decode("latin-1"), data
    if kind.kind == "enum":
        symbol = draw(st.sampled_from(kind.symbols))
        return symbol, symbol
    return several_of(kind, draw)


def several_of(kind: AvroType, draw: st.DrawFn) -> tuple[Any, Any]:
    if kind.kind == "union":
        branch = draw(st.sampled_from(kind.branches))
        ours, theirs = value_of(branch, draw)
        is_null = branch.kind == "null"
        return (None, None) if is_null else ({branch.label: ours}, (branch.label, theirs))
    if kind.items is not None:
        items = [value_of(kind.items, draw) for _ in range(draw(st.integers(0, 3)))]
        both = [list(each) for each in zip(*items, strict=True)] or [[], []]
        if kind.kind == "map":
            return tuple({f"k{n}": v for n, v in enumerate(each)} for each in both)  # type: ignore[return-value]
        return both[0], both[1]
    fields = {each.name: value_of(each.type, draw) for each in kind.fields}
    ours_, theirs_ = ({name: v[n] for name, v in fields.items()} for n in (0, 1))
    return ours_, theirs_


@given(st.data())
@settings(deadline=None)
def test_values_have_the_bytes_that_fastavro_gives_them(data: st.DataObject):
    schema = data.draw(schemas())
    ours = parse(SchemaKind.AVRO, json.dumps(schema))
    kind: AvroType = ours.root  # type: ignore[attr-defined]
    value, native = value_of(kind, data.draw)
    theirs = io.BytesIO()
    fastavro.schemaless_writer(theirs, fastavro.parse_schema(schema), native)
    encoded = ours.encode(value, Budget())
    assert encoded == theirs.getvalue()
    assert ours.decode(encoded) == value


@given(st.data(), st.binary(max_size=40))
@settings(deadline=None)
def test_any_bytes_are_a_value_or_are_refused(data: st.DataObject, given_bytes: bytes):
    ours = parse(SchemaKind.AVRO, json.dumps(data.draw(schemas())))
    try:
        value = ours.decode(given_bytes)
    except BadValue:
        return
    json.dumps(value, allow_nan=False)
    ours.encode(value, Budget())


@given(schemas(), schemas())
@settings(deadline=None)
def test_what_reads_what_is_as_apaches_library_says(reader: Any, writer: Any):
    checker = ReaderWriterCompatibilityChecker()
    texts = json.dumps(reader), json.dumps(writer)
    theirs = checker.get_compatibility(*map(apache, texts))
    one, other = (parse(SchemaKind.AVRO, text) for text in texts)
    ours = problems(Level.BACKWARD, one, other, Budget())
    is_compatible = theirs.compatibility is SchemaCompatibilityType.compatible
    assert (not ours) == is_compatible, (ours, theirs.messages)


@given(schemas())
@settings(deadline=None)
def test_the_text_of_a_schema_is_that_schema(schema: Any):
    ours = parse(SchemaKind.AVRO, json.dumps(schema))
    for text in (ours.text, ours.normalized):
        again = parse(SchemaKind.AVRO, text)
        assert (again.text, again.normalized) == (ours.text, ours.normalized)
    assert fastavro.parse_schema(json.loads(ours.text)) == fastavro.parse_schema(schema)


WORDS = ["type", "name", "fields", "items", "values", "symbols", "size", "default"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([*PRIMITIVES, "record", "array"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
    ),
)


@given(ANYTHING)
@settings(deadline=None)
def test_any_json_is_a_schema_or_is_refused(given_json: Any):
    try:
        ours = parse(SchemaKind.AVRO, json.dumps(given_json))
    except BadSchema:
        return
    parse(SchemaKind.AVRO, ours.text)
