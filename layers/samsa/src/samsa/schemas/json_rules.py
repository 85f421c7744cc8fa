"""Whether one JSON Schema reads what was written by another: Confluent's rules.

The question is asked keyword by keyword: does the reader forbid what the writer allowed? What may
be added and removed depends on the content model of an object or a tuple: *open* (any other
property is allowed), *closed* (none is), or *partially open* (they have a schema, or a pattern).
"""

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from .budget import Budget, raise_if_deep
from .json_documents import Documents, Place
from .json_texts import told

TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
STEPS = 5
"""Of the budget, for a comparison of two schemas."""
CHARACTERS_PER_STEP = 100
SUMS = ("anyOf", "oneOf")
WITHOUT_EFFECT = frozenset(
    {
        "$id", "id", "$schema", "$comment", "$anchor", "title", "description", "default",
        "examples", "definitions", "$defs", "format", "readOnly", "writeOnly", "deprecated",
    }
)  # fmt: skip
"""Keywords that forbid nothing by themselves."""
BOUNDS = {
    "maxLength": "MAX_LENGTH",
    "maximum": "MAXIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "maxItems": "MAX_ITEMS",
}
"""Upper bounds, each with the beginning of its problem's name; lower bounds are next."""
FLOORS = {
    "minLength": "MIN_LENGTH",
    "minimum": "MINIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "minProperties": "MIN_PROPERTIES",
    "minItems": "MIN_ITEMS",
}
UNCHANGED = {
    "pattern": "PATTERN",
    "contains": "CONTAINS",
    "minContains": "CONTAINS",
    "maxContains": "CONTAINS",
    "propertyNames": "PROPERTY_NAMES",
    "if": "CONDITION",
    "then": "CONDITION",
    "else": "CONDITION",
    "unevaluatedProperties": "UNEVALUATED_PROPERTIES",
    "unevaluatedItems": "UNEVALUATED_ITEMS",
}
"""Keywords whose effect is not compared: the reader may drop them, and not add or change them."""

Found = Iterator[tuple[str, str]]
"""Problems: the name of each, and where in the schema it is."""
Match = Callable[[str, str], bool]
"""Whether a pattern matches a property's name."""


class JsonRules:
    def __init__(
        self, writer: Documents, reader: Documents, matches: Match, budget: Budget
    ) -> None:
        self._writer, self._reader = writer, reader
        self._matches = matches
        self._budget = budget
        self._under_way: set[tuple[int, int]] = set()
        self._merged: dict[tuple[int, str, int], Place] = {}
        self._depth = 0

    def problems(self) -> list[tuple[str, str]]:
        """Raises TooComplex."""
        return list(self._compare(self._writer.root, self._reader.root, "#/"))

    def _compare(self, writer: Place, reader: Place, path: str) -> Found:
        self._budget.spend(STEPS)
        writer, reader = self._writer.followed(writer), self._reader.followed(reader)
        pair = id(writer.schema), id(reader.schema)
        if pair in self._under_way or allows_all(reader.schema) or writer.schema is False:
            return
        if reader.schema is False:
            yield "TYPE_CHANGED", path
            return
        self._under_way.add(pair)
        self._depth += 1
        raise_if_deep(self._depth)
        try:
            found = self._combined(_object(writer), _object(reader), path)
            first = next(found, None)
            if first is not None and not self._is_same(writer, reader):
                yield first
                yield from found
        finally:
            self._depth -= 1
            self._under_way.discard(pair)

    def _is_same(self, writer: Place, reader: Place) -> bool:
        """Asked only after a problem was found: parts that contradict each other are read as little
        as they are written. Where there are references, equal texts may mean different things."""
        if self._writer.has_references or self._reader.has_references:
            return False
        one = told(writer.schema)
        self._budget.spend(len(one) // CHARACTERS_PER_STEP)
        return one == told(reader.schema)

    def _reads(self, writer: Place, reader: Place, path: str) -> bool:
        return next(self._compare(writer, reader, path), None) is None

    def _combined(self, writer: Place, reader: Place, path: str) -> Found:
        """A writer of several kinds must be read in each of them; a reader of several kinds must
        read the writer in one."""
        for keyword in SUMS:
            branches = writer.schema.get(keyword)
            if isinstance(branches, list):
                for number in range(len(branches)):
                    alone = self._with_branch(writer, keyword, number)
                    yield from self._compare(alone, reader, f"{path}{keyword}/{number}/")
                return
        if isinstance(writer.schema.get("allOf"), list):
            writer = _object(self._with_all(writer))
            if writer.schema is False:
                return
        for number, branch in enumerate(_list(reader.schema, "allOf")):
            yield from self._compare(writer, reader.child(branch), f"{path}allOf/{number}/")
        for keyword in SUMS:
            branches = _list(reader.schema, keyword)
            places = [reader.child(branch) for branch in branches]
            if places and not any(self._reads(writer, each, path) for each in places):
                yield (
                    ("TYPE_CHANGED" if len(places) == 1 else "COMBINED_TYPE_SUBSCHEMAS_CHANGED"),
                    path,
                )
        yield from self._plain(writer, reader, path)

    def _with_branch(self, place: Place, keyword: str, number: int) -> Place:
        """The schema as if it had only this branch. Made once, so that recursion is recognised."""
        key = id(place.schema), keyword, number
        if key not in self._merged:
            rest = {name: value for name, value in place.schema.items() if name != keyword}
            branch = self._writer.followed(place.child(place.schema[keyword][number]))
            self._merged[key] = _merged(Place(branch.base, rest), branch) if rest else branch
        return self._merged[key]

    def _with_all(self, place: Place) -> Place:
        key = id(place.schema), "allOf", -1
        if key not in self._merged:
            found = Place(place.base, {n: v for n, v in place.schema.items() if n != "allOf"})
            for branch in place.schema["allOf"]:
                found = _merged(found, self._writer.followed(place.child(branch)))
            self._merged[key] = found
        return self._merged[key]

    def _plain(self, writer: Place, reader: Place, path: str) -> Found:
        old, new = writer.schema, reader.schema
        if not types_of(old) <= _with_integers(types_of(new)):
            common = _with_integers(types_of(old)) & _with_integers(types_of(new))
            yield ("TYPE_NARROWED" if common else "TYPE_CHANGED"), path
            return
        self._budget.spend(sum(map(_length, old.values())) + sum(map(_length, new.values())))
        yield from _values(old, new, path)
        yield from self._unchanged(old, new, path)
        yield from _limits(old, new, path)
        if "object" in types_of(old):
            yield from self._objects(writer, reader, path)
        if "array" in types_of(old):
            yield from self._arrays(writer, reader, path)
        if "not" in new:
            yield from self._not(writer, reader, path)

    def _unchanged(self, old: dict[str, Any], new: dict[str, Any], path: str) -> Found:
        for keyword, problem in UNCHANGED.items():
            if keyword not in new or (allows_all(new[keyword]) and keyword != "contains"):
                continue
            if keyword not in old or not self._means_the_same(old[keyword], new[keyword]):
                yield f"{problem}_{'CHANGED' if keyword in old else 'ADDED'}", f"{path}{keyword}"

    def _means_the_same(self, old: Any, new: Any) -> bool:
        text = told(new)
        self._budget.spend(len(text) // CHARACTERS_PER_STEP)
        if '"$ref"' in text and self._writer.definitions != self._reader.definitions:
            return False
        return text == told(old)

    def _not(self, writer: Place, reader: Place, path: str) -> Found:
        """The reader may forbid no more than the writer did."""
        turned = JsonRules(self._reader, self._writer, self._matches, self._budget)
        turned._depth = self._depth
        inner = reader.child(reader.schema["not"]), writer.child(writer.schema.get("not", False))
        if not turned._reads(*inner, path):
            yield "NOT_TYPE_EXTENDED", f"{path}not"

    def _objects(self, writer: Place, reader: Place, path: str) -> Found:
        old, new = _properties(writer.schema), _properties(reader.schema)
        required = set(_list(reader.schema, "required")) - set(_list(writer.schema, "required"))
        for name in old:
            at = f"{path}properties/{name}"
            if name in new:
                yield from self._compare(writer.child(old[name]), reader.child(new[name]), f"{at}/")
                if name in required and not _has_default(new[name]):
                    yield "REQUIRED_ATTRIBUTE_ADDED", f"{path}required/{name}"
            else:
                yield from self._removed(writer.child(old[name]), reader, name, at)
        for name in new:
            if name not in old:
                must = name in required and not _has_default(new[name])
                at = f"{path}properties/{name}"
                yield from self._added(writer, reader.child(new[name]), (name, must), at)
        for name in sorted(map(str, required - set(old) - set(new))):
            yield "REQUIRED_ATTRIBUTE_ADDED", f"{path}required/{name}"
        yield from self._others(writer, reader, "additionalProperties", path)
        yield from self._patterns(writer, reader, path)
        yield from self._dependencies(writer, reader, path)

    def _removed(self, was: Place, reader: Place, name: str, path: str) -> Found:
        if is_open(reader.schema):
            return
        covering = self._covering(reader, name)
        if covering is None:
            if was.schema is not False:
                yield "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", path
        elif not self._reads(was, covering, path):
            yield "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path

    def _added(self, writer: Place, now: Place, named: tuple[str, bool], path: str) -> Found:
        name, must = named
        if is_open(writer.schema):
            if not allows_all(now.schema):
                yield "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", path
                return
        else:
            covering = self._covering(writer, name)
            if covering is not None and not self._reads(covering, now, path):
                yield "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", path
                return
        if must:
            yield "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", path

    def _covering(self, place: Place, name: str) -> Place | None:
        """The schema of properties that are not listed, for one of this name."""
        patterns = place.schema.get("patternProperties")
        for pattern, schema in (patterns if isinstance(patterns, dict) else {}).items():
            self._budget.spend(10)
            if self._matches(pattern, name):
                return place.child(schema)
        others = place.schema.get("additionalProperties", True)
        return None if others is False else place.child(others)

    def _others(self, writer: Place, reader: Place, keyword: str, path: str) -> Found:
        old, new = writer.schema.get(keyword, True), reader.schema.get(keyword, True)
        problem = (
            "ADDITIONAL_PROPERTIES" if keyword == "additionalProperties" else "ADDITIONAL_ITEMS"
        )
        if new is False and old is not False:
            yield f"{problem}_REMOVED", f"{path}{keyword}"
        elif allows_all(old) and not allows_all(new):
            yield f"{problem}_NARROWED", f"{path}{keyword}"
        else:
            yield from self._compare(writer.child(old), reader.child(new), f"{path}{keyword}/")

    def _patterns(self, writer: Place, reader: Place, path: str) -> Found:
        old, new = (_dict(each.schema, "patternProperties") for each in (writer, reader))
        for pattern, schema in new.items():
            at = f"{path}patternProperties/{pattern}"
            if pattern in old:
                yield from self._compare(writer.child(old[pattern]), reader.child(schema), f"{at}/")
            elif is_open(writer.schema) and not allows_all(schema):
                yield "PATTERN_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", at

    def _dependencies(self, writer: Place, reader: Place, path: str) -> Found:
        for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
            old, new = _dict(writer.schema, keyword), _dict(reader.schema, keyword)
            for name, needs in new.items():
                at, was = f"{path}{keyword}/{name}", old.get(name)
                if isinstance(needs, list):
                    if not isinstance(was, list):
                        yield "DEPENDENCY_ARRAY_ADDED", at
                    elif not _texts(needs) <= _texts(was):
                        yield "DEPENDENCY_ARRAY_EXTENDED", at
                elif was is None or isinstance(was, list):
                    yield "DEPENDENCY_SCHEMA_ADDED", at
                else:
                    yield from self._compare(writer.child(was), reader.child(needs), f"{at}/")

    def _arrays(self, writer: Place, reader: Place, path: str) -> Found:
        if (
            reader.schema.get("uniqueItems") is True
            and writer.schema.get("uniqueItems") is not True
        ):
            yield "UNIQUE_ITEMS_ADDED", f"{path}uniqueItems"
        (old, old_rest), (new, new_rest) = _items(writer), _items(reader)
        for number in range(max(len(old), len(new))):
            at = f"{path}items/{number}/"
            was = old[number] if number < len(old) else old_rest
            now = new[number] if number < len(new) else new_rest
            if number >= len(old) and allows_all(was.schema) and not allows_all(now.schema):
                yield "ITEM_ADDED_TO_OPEN_CONTENT_MODEL", at
            elif now.schema is False and was.schema is not False:
                yield "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", at
            else:
                yield from self._compare(was, now, at)
        yield from self._compare(old_rest, new_rest, f"{path}items/")


def _length(value: Any) -> int:
    """Of enumerations, required names, properties: each is looked at in every comparison."""
    return len(value) if isinstance(value, dict | list) else 0


def _values(old: dict[str, Any], new: dict[str, Any], path: str) -> Found:
    """Enumerations and constants."""
    now, was = _enumerated(new), _enumerated(old)
    if now is not None:
        if was is None:
            yield "ENUM_ARRAY_ADDED", f"{path}enum"
        elif not was <= now:
            yield ("ENUM_ARRAY_NARROWED" if now < was else "ENUM_ARRAY_CHANGED"), f"{path}enum"


def _limits(old: dict[str, Any], new: dict[str, Any], path: str) -> Found:
    for keyword, problem in BOUNDS.items():
        now = _number(new, keyword)
        if now is not None and (_number(old, keyword, inf) or 0) > now:
            yield f"{problem}_{'DECREASED' if keyword in old else 'ADDED'}", f"{path}{keyword}"
    for keyword, problem in FLOORS.items():
        now = _number(new, keyword)
        if now is not None and (_number(old, keyword, -inf) or 0) < now:
            yield f"{problem}_{'INCREASED' if keyword in old else 'ADDED'}", f"{path}{keyword}"
    for keyword in ("exclusiveMaximum", "exclusiveMinimum"):  # draft 4: booleans
        if new.get(keyword) is True and old.get(keyword) is not True:
            yield f"{BOUNDS.get(keyword) or FLOORS[keyword]}_ADDED", f"{path}{keyword}"
    now, was = _number(new, "multipleOf"), _number(old, "multipleOf")
    if now:
        if was is None:
            yield "MULTIPLE_OF_ADDED", f"{path}multipleOf"
        elif not _divides(now, was):
            yield "MULTIPLE_OF_CHANGED", f"{path}multipleOf"


def _divides(one: float, other: float) -> bool:
    try:
        return not other % one
    except OverflowError:  # an integer beyond all floats
        return False


def allows_all(schema: Any) -> bool:
    """Whether it is `true`, or says nothing but words for people."""
    if isinstance(schema, dict):
        return schema.keys() <= WITHOUT_EFFECT
    return schema is True


def is_open(schema: dict[str, Any]) -> bool:
    return allows_all(schema.get("additionalProperties", True)) and not schema.get(
        "patternProperties"
    )


def types_of(schema: dict[str, Any]) -> frozenset[str]:
    given = schema.get("type")
    if given is None:
        return TYPES
    return frozenset(given if isinstance(given, list) else [given])


def _with_integers(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types


def _merged(one: Place, other: Place) -> Place:
    """A schema with the keywords of both. Of a keyword that both have, properties and required
    names are united, and else the second is taken."""
    if not isinstance(other.schema, dict) or not isinstance(one.schema, dict):
        return one if one.schema is False or other.schema is True else other
    found = dict(one.schema)
    for name, value in other.schema.items():
        if name in ("properties", "patternProperties") and isinstance(found.get(name), dict):
            found[name] = {**found[name], **value}
        elif name == "required" and isinstance(found.get(name), list):
            found[name] = [*found[name], *value]
        else:
            found[name] = value
    return Place(other.base, found)


def _object(place: Place) -> Place:
    return place._replace(schema={}) if place.schema is True else place


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    return _dict(schema, "properties")


def _items(place: Place) -> tuple[list[Place], Place]:
    """The schemas of the first items, and that of the others."""
    schema = place.schema
    first, rest = schema.get("prefixItems"), schema.get("items", True)
    if not isinstance(first, list):
        first = []
        if isinstance(rest, list):
            first, rest = rest, schema.get("additionalItems", True)
    return [place.child(each) for each in first], place.child(rest)


def _enumerated(schema: dict[str, Any]) -> frozenset[str] | None:
    if "const" in schema:
        return frozenset({told(schema["const"])})
    return _texts(schema["enum"]) if isinstance(schema.get("enum"), list) else None


def _texts(values: list[Any]) -> frozenset[str]:
    return frozenset(map(told, values))


def _number(schema: dict[str, Any], keyword: str, default: float | None = None) -> float | None:
    found = schema.get(keyword, default)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else default


def _list(schema: dict[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _dict(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}


def _has_default(schema: Any) -> bool:
    return isinstance(schema, dict) and "default" in schema
