"""JSON Schemas: what is one, and what may follow what."""

import contextlib
import json
import socket
from typing import Any

import pytest
from unit.schemas.given import found, json_schema

from samsa.schemas.budget import Budget
from samsa.schemas.compatibility import Level
from samsa.schemas.contents import NamedText, SchemaKind
from samsa.schemas.errors import BadSchema, BadValue
from samsa.schemas.parsing import parse


def an_object(required: list[str] | None = None, others: Any = None, **properties: Any) -> Any:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    if others is not None:
        schema["additionalProperties"] = others
    return schema


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}

MAY_FOLLOW = [
    ("the same", an_object(a=TEXT), an_object(a=TEXT)),
    ("a wider type", NUMBER, WHOLE),
    ("several types", {"type": ["string", "null"]}, TEXT),
    ("anything", True, TEXT),
    ("words for people", {"type": "string", "title": "A"}, TEXT),
    ("a bound less", TEXT, {"type": "string", "maxLength": 3}),
    ("a wider bound", {"type": "string", "maxLength": 4}, {"type": "string", "maxLength": 3}),
    ("a lower floor", {"type": "number", "minimum": 1}, {"type": "number", "minimum": 2}),
    ("a pattern less", TEXT, {"type": "string", "pattern": "a"}),
    ("a wider enumeration", {"enum": [1, 2, 3]}, {"enum": [1, 2]}),
    ("a divisor", {"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 4}),
    ("a property less, open", an_object(), an_object(a=TEXT)),
    ("a property more, closed", an_object(a=TEXT, others=False), an_object(others=False)),
    ("one that may be anything", an_object(a=True), an_object()),
    (
        "required with a default",
        an_object(["a"], False, a={**TEXT, "default": ""}),
        an_object(others=False),
    ),
    ("no more required", an_object(a=TEXT), an_object(["a"], a=TEXT)),
    ("a covered property", an_object(a=TEXT, others=TEXT), an_object(others=TEXT)),
    ("opened", an_object(a=TEXT), an_object(a=TEXT, others=False)),
    ("one kind more", {"oneOf": [TEXT, NUMBER]}, {"oneOf": [TEXT]}),
    ("a kind of several", {"anyOf": [TEXT, NUMBER]}, WHOLE),
    ("all of the same", {"allOf": [an_object(a=TEXT)]}, an_object(a=TEXT)),
    (
        "merged from all",
        an_object(["a"], a=TEXT),
        {"allOf": [an_object(a=TEXT), {"required": ["a"]}]},
    ),
    ("a wider item", {"type": "array", "items": NUMBER}, {"type": "array", "items": WHOLE}),
    ("unique no more", {"type": "array"}, {"type": "array", "uniqueItems": True}),
    ("less forbidden", {"not": {"type": "integer"}}, {"not": {"type": "number"}}),
]
MAY_NOT_FOLLOW = [
    ("TYPE_CHANGED", TEXT, NUMBER),
    ("TYPE_NARROWED", WHOLE, {"type": ["integer", "string"]}),
    ("TYPE_CHANGED", False, TEXT),
    ("MAX_LENGTH_ADDED", {"type": "string", "maxLength": 3}, TEXT),
    (
        "MAX_LENGTH_DECREASED",
        {"type": "string", "maxLength": 2},
        {"type": "string", "maxLength": 3},
    ),
    ("MINIMUM_INCREASED", {"type": "number", "minimum": 3}, {"type": "number", "minimum": 2}),
    ("PATTERN_ADDED", {"type": "string", "pattern": "a"}, TEXT),
    ("PATTERN_CHANGED", {"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}),
    ("ENUM_ARRAY_NARROWED", {"enum": [1]}, {"enum": [1, 2]}),
    ("ENUM_ARRAY_CHANGED", {"enum": [1, 3]}, {"enum": [1, 2]}),
    (
        "MULTIPLE_OF_CHANGED",
        {"type": "integer", "multipleOf": 4},
        {"type": "integer", "multipleOf": 2},
    ),
    ("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", an_object(a=TEXT), an_object()),
    (
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        an_object(others=False),
        an_object(a=TEXT, others=False),
    ),
    (
        "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        an_object(["a"], False, a=TEXT),
        an_object(others=False),
    ),
    ("REQUIRED_ATTRIBUTE_ADDED", an_object(["a"], a=TEXT), an_object(a=TEXT)),
    ("ADDITIONAL_PROPERTIES_REMOVED", an_object(others=False), an_object()),
    ("ADDITIONAL_PROPERTIES_NARROWED", an_object(others=TEXT), an_object()),
    (
        "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        an_object(a=NUMBER, others=TEXT),
        an_object(others=TEXT),
    ),
    (
        "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        {**an_object(others=False), "patternProperties": {"^a": NUMBER}},
        an_object(ab=TEXT, others=False),
    ),
    ("COMBINED_TYPE_SUBSCHEMAS_CHANGED", {"oneOf": [TEXT, NUMBER]}, {"type": "boolean"}),
    ("TYPE_CHANGED", {"allOf": [TEXT]}, NUMBER),
    ("CONTAINS_ADDED", {"type": "array", "contains": True}, {"type": "array"}),
    (
        "CONTAINS_CHANGED",
        {"contains": {"$ref": "#/definitions/a"}, "definitions": {"a": NUMBER}, "type": "array"},
        {"contains": {"$ref": "#/definitions/a"}, "definitions": {"a": TEXT}, "type": "array"},
    ),
    ("UNIQUE_ITEMS_ADDED", {"type": "array", "uniqueItems": True}, {"type": "array"}),
    (
        "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
        {"type": "array", "items": [NUMBER, TEXT]},
        {"type": "array", "items": [NUMBER]},
    ),
    ("NOT_TYPE_EXTENDED", {"not": {"type": "number"}}, {"not": {"type": "integer"}}),
    (
        "DEPENDENCY_ARRAY_ADDED",
        {"type": "object", "dependencies": {"a": ["b"]}},
        {"type": "object"},
    ),
]


@pytest.mark.parametrize(
    ("new", "old"), [each[1:] for each in MAY_FOLLOW], ids=[m[0] for m in MAY_FOLLOW]
)
def test_a_reader_takes(new: Any, old: Any):
    assert found(json_schema(new), json_schema(old)) == []
    assert found(json_schema(old), json_schema(new), Level.FORWARD) == []


@pytest.mark.parametrize(("problem", "new", "old"), MAY_NOT_FOLLOW)
def test_a_reader_does_not_take(problem: str, new: Any, old: Any):
    assert found(json_schema(new), json_schema(old)) == [problem]
    assert found(json_schema(old), json_schema(new), Level.FORWARD) == [problem]


def test_a_schema_that_refers_to_itself_is_compared():
    def tree(kind: str) -> Any:
        inner = {"type": "array", "items": {"$ref": "#"}}
        return an_object(v={"type": kind}, inner=inner, others=False)

    assert found(json_schema(tree("number")), json_schema(tree("integer"))) == []
    assert found(json_schema(tree("integer")), json_schema(tree("number"))) == ["TYPE_NARROWED"]


def test_references_are_found_by_name_by_id_by_anchor_and_by_pointer():
    other = NamedText(
        "money.json", json.dumps({"$defs": {"cents": {"$anchor": "c", "type": "integer"}}})
    )
    schema = an_object(
        a={"$ref": "money.json#/$defs/cents"},
        b={"$ref": "money.json#c"},
        c={"$ref": "#/definitions/x~1y"},
        d={"$ref": "https://example.com/inner"},
    )
    schema |= {
        "definitions": {"x/y": TEXT, "z": {"$id": "https://example.com/inner", "type": "string"}}
    }
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    one = json_schema(schema, other)
    assert one.encode({"a": 1, "b": 2, "c": "x", "d": "y"}, Budget())
    for wrong in ({"a": "1"}, {"b": "1"}, {"c": 1}, {"d": 1}):
        with pytest.raises(BadValue):
            one.encode(wrong, Budget())


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"properties": []},
        {"$ref": "#/nowhere"},
        {"$ref": "other.json"},
        {"$ref": "#"},
        {"required": "a"},
        [],
        "string",
    ],
)
def test_what_is_no_schema_is_refused(schema: Any):
    with pytest.raises(BadSchema):
        json_schema(schema)


@pytest.mark.parametrize("text", ["{", '{"maximum": NaN}', '{"maximum": 1e999}', "[" * 100_000])
def test_what_is_no_json_is_refused(text: str):
    with pytest.raises(BadSchema):
        parse(SchemaKind.JSON, text)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "AT"},
        {"$schema": "AT"},
        {"properties": {"a": {"$id": "q", "$schema": "AT"}}},
        {"$id": "AT", "$ref": "other.json"},
        {"$dynamicRef": "AT"},
        {"$ref": "r.json"},
    ],
)
def test_nothing_is_ever_fetched(schema: Any):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        at = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        other = NamedText("r.json", json.dumps({"$schema": at, "type": "string"}))
        with contextlib.suppress(BadSchema, BadValue):
            parse(SchemaKind.JSON, json.dumps(schema).replace("AT", at), [other]).encode(
                {}, Budget()
            )
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_pattern_that_python_would_never_finish_is_run_at_once():
    schema = json_schema({"type": "string", "pattern": "^(a+)+$"})
    with pytest.raises(BadValue):
        schema.encode("a" * 100_000 + "b", Budget())
    old = an_object(**{"a" * 200 + "b": TEXT}, others=False)
    new = {**an_object(others=False), "patternProperties": {"^(a+)+$": TEXT}}
    assert found(json_schema(new), json_schema(old)) == [
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
    ]


def test_schemas_that_branch_without_end_are_refused():
    """Each definition asks for the next one in two ways, and each of these again."""

    def laughs(leaf: Any) -> Any:
        definitions = {
            f"d{n}": {
                "anyOf": [
                    {"$ref": f"#/definitions/d{n + 1}"},
                    {"type": "array", "items": {"$ref": f"#/definitions/d{n + 1}"}},
                ]
            }
            for n in range(40)
        }
        definitions["d40"] = leaf
        return {"definitions": definitions, "$ref": "#/definitions/d0"}

    with pytest.raises(BadSchema):
        found(json_schema(laughs(TEXT)), json_schema(laughs({"type": "string", "maxLength": 4})))


def test_a_value_that_a_schema_would_be_asked_about_without_end_is_answered_soon():
    """Each level of the value asks twice about the next one."""
    twice = {"properties": {"n": {"$ref": "#"}}}
    schema = json_schema({"allOf": [twice, twice], "type": "object"})
    value: Any = 7
    for _ in range(60):
        value = {"n": value}
    with pytest.raises(BadValue, match="does not fit"):
        schema.encode(value, Budget())
    chain = {
        f"d{n}": {"properties": {"n": {"allOf": [{"$ref": f"#/definitions/d{n + 1}"}] * 2}}}
        for n in range(40)
    }
    with pytest.raises(BadSchema):
        json_schema({"definitions": {**chain, "d40": TEXT}, "$ref": "#/definitions/d0"})


def test_a_value_is_checked_and_told_as_it_is():
    schema = json_schema(an_object(["a"], a=WHOLE))
    assert schema.encode({"a": 1, "ü": "ü"}, Budget()) == '{"a":1,"ü":"ü"}'.encode()
    assert schema.decode(b'{"a": 1}') == {"a": 1}
    with pytest.raises(BadValue, match="required"):
        schema.encode({}, Budget())
    for no_json in (b"{", b"NaN", b"\xff"):
        with pytest.raises(BadValue):
            schema.decode(no_json)


def test_the_normal_form_does_not_depend_on_the_order_of_names():
    one, other = (parse(SchemaKind.JSON, text) for text in ('{"a":1, "b":2}', '{"b":2,"a":1}'))
    assert one.text == '{"a":1,"b":2}'
    assert other.text == '{"b":2,"a":1}'
    assert one.normalized == other.normalized
