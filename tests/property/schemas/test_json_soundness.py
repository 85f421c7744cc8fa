"""If a JSON Schema may follow another, then it takes every value that the other one takes."""

import json
from typing import Any

import jsonschema_rs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samsa.schemas.budget import Budget
from samsa.schemas.compatibility import Level, problems
from samsa.schemas.contents import SchemaKind
from samsa.schemas.parsing import parse

NAMES = st.sampled_from(["a", "b", "ab"])
SMALL = st.integers(0, 3)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "object", "array"])
SCALARS = st.sampled_from([None, True, 0, 1, 2, 2.5, "", "a", "ab"])
NUMBERS = dict.fromkeys(("minimum", "maximum", "exclusiveMaximum"), SMALL)
SIZES = {
    f"{bound}{of}": SMALL for bound in ("min", "max") for of in ("Length", "Items", "Properties")
}


def objects(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), inner, max_size=1),
        "dependencies": st.dictionaries(NAMES, st.lists(NAMES, unique=True) | inner, max_size=1),
        "propertyNames": inner,
    }


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=2)
    keywords = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(SCALARS, min_size=1, max_size=3),
        "const": SCALARS,
        **NUMBERS,
        "multipleOf": st.integers(1, 4),
        **SIZES,
        **objects(inner),
        "items": inner | several,
        "additionalItems": st.booleans() | inner,
        "uniqueItems": st.booleans(),
        "contains": inner,
        "anyOf": several,
        "allOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "pattern": st.sampled_from(["a", "^b"]),
    }
    chosen = st.sets(st.sampled_from(sorted(keywords)), max_size=3)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({n: keywords[n] for n in sorted(names)})
    )


SCHEMAS = st.recursive(st.booleans() | st.fixed_dictionaries({"type": TYPES}), larger, max_leaves=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def changed(schema: Any, draw: st.DrawFn) -> Any:
    """A schema that differs a little: two that have nothing in common seldom fit."""
    if not isinstance(schema, dict) or draw(st.integers(0, 3)) == 0:
        return draw(SCHEMAS)
    found = dict(schema)
    if found and draw(st.booleans()):
        del found[draw(st.sampled_from(sorted(found)))]
    if draw(st.booleans()):
        found |= draw(larger(st.booleans()))
    return found


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_what_may_follow_takes_what_was_written(data: st.DataObject):
    old = data.draw(SCHEMAS)
    new = changed(old, data.draw)
    reader, writer = (parse(SchemaKind.JSON, json.dumps(each)) for each in (new, old))
    assume(not problems(Level.BACKWARD, reader, writer, Budget()))
    old_takes, new_takes = (jsonschema_rs.Draft7Validator(each).is_valid for each in (old, new))
    for value in data.draw(st.lists(VALUES, min_size=10, max_size=10)):
        assert not old_takes(value) or new_takes(value), (old, new, value)


@given(SCHEMAS)
@settings(deadline=None)
def test_a_schema_may_follow_itself(schema: Any):
    one, other = (parse(SchemaKind.JSON, json.dumps(schema)) for _ in range(2))
    assert problems(Level.FULL, one, other, Budget()) == []
