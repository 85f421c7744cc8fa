"""Avro's types, and reading a schema by the rules of the specification."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .budget import Budget, raise_if_deep
from .errors import BadSchema
from .json_texts import parsed, told

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NAMED = frozenset({"record", "error", "enum", "fixed"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN = {
    "record": {"type", "name", "namespace", "aliases", "doc", "fields"},
    "enum": {"type", "name", "namespace", "aliases", "doc", "symbols", "default"},
    "fixed": {"type", "name", "namespace", "aliases", "doc", "size"},
    "array": {"type", "items"},
    "map": {"type", "values"},
    "field": {"type", "name", "aliases", "doc", "default", "order"},
}
"""What the specification defines; all other attributes are kept as they are."""
NOTHING: Any = object()
LARGEST_FIXED = 2**31 - 1


@dataclass(eq=False, slots=True)
class AvroType:
    kind: str
    name: str = ""
    """In full, of a named type."""
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    fields: "list[AvroField]" = field(default_factory=list)
    symbols: tuple[str, ...] = ()
    default: str | None = None
    """Of an enumeration."""
    size: int = 0
    items: "AvroType | None" = None
    """Of an array or a map."""
    branches: "list[AvroType]" = field(default_factory=list)
    props: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What a union calls it in JSON."""
        return self.name or self.kind


@dataclass(eq=False, slots=True)
class AvroField:
    name: str
    type: AvroType
    default: Any = NOTHING
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    order: str = "ascending"
    props: dict[str, Any] = field(default_factory=dict)


class AvroReader:
    """Reads schemas one after the other; a later one may name types of the earlier ones."""

    def __init__(self, budget: Budget) -> None:
        self.names: dict[str, AvroType] = {}
        self._budget = budget

    def read(self, text: str) -> AvroType:
        """Raises BadSchema."""
        return self._type(parsed(text), "", 0)

    def _type(self, given: Any, space: str, depth: int) -> AvroType:
        self._budget.spend()
        raise_if_deep(depth)
        if isinstance(given, str):
            return self._by_name(given, space)
        if isinstance(given, list):
            return self._union(given, space, depth)
        if not isinstance(given, dict):
            raise BadSchema(f"{_short(given)} is no type")
        return self._object(given, space, depth)

    def _object(self, given: dict[str, Any], space: str, depth: int) -> AvroType:
        kind = given.get("type")
        if kind is None:
            raise BadSchema(f'there is no "type" in {_short(given)}')
        if not isinstance(kind, str):
            return self._type(kind, space, depth + 1)
        if kind in PRIMITIVES:
            return AvroType(kind, props=_others(given, {"type"}))
        if kind in NAMED:
            return self._named(kind, given, space, depth)
        if kind not in ("array", "map"):
            return self._by_name(kind, space)
        inner = "items" if kind == "array" else "values"
        if inner not in given:
            raise BadSchema(f'an {kind} needs "{inner}"')
        items = self._type(given[inner], space, depth + 1)
        return AvroType(kind, items=items, props=_others(given, _OWN[kind]))

    def _by_name(self, name: str, space: str) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        found = self.names.get(_full(name, space)) or self.names.get(name)
        if found is None:
            raise BadSchema(f"{_short(name)} is no type, and is not defined before it is used")
        return found

    def _union(self, given: list[Any], space: str, depth: int) -> AvroType:
        branches = [self._type(each, space, depth + 1) for each in given]
        labels = [each.label for each in branches]
        if "union" in labels:
            raise BadSchema("a union is directly in a union")
        if len(set(labels)) < len(labels):
            raise BadSchema(f"a union has a type twice: {_short(labels)}")
        return AvroType("union", branches=branches)

    def _named(self, kind: str, given: dict[str, Any], space: str, depth: int) -> AvroType:
        kind = "record" if kind == "error" else kind
        name = _text(given, "name")
        if name is None:
            raise BadSchema(f'a {kind} needs a "name"')
        namespace = _text(given, "namespace")
        full = _full(name, space if namespace is None else namespace)
        for part in full.split("."):
            _check_name(part)
        if full in PRIMITIVES or full in self.names:
            raise BadSchema(f"{_short(full)} is defined twice, or a type of Avro's own")
        own = full.rpartition(".")[0]
        made = AvroType(
            kind,
            full,
            tuple(_full(each, own) for each in _texts(given, "aliases")),
            _text(given, "doc"),
            props=_others(given, _OWN[kind]),
        )
        self.names[full] = made
        if kind == "record":
            self._record(made, given, own, depth)
        elif kind == "enum":
            _read_enum(made, given)
        else:
            _read_fixed(made, given)
        return made

    def _record(self, made: AvroType, given: dict[str, Any], space: str, depth: int) -> None:
        fields = given.get("fields")
        if not isinstance(fields, list):
            raise BadSchema(f'record {made.name} needs a list of "fields"')
        for each in fields:
            made.fields.append(self._field(each, space, depth))
        names = [each.name for each in made.fields]
        if len(set(names)) < len(names):
            raise BadSchema(f"record {made.name} has a field twice")

    def _field(self, given: Any, space: str, depth: int) -> AvroField:
        if not isinstance(given, dict) or "type" not in given:
            raise BadSchema(f"{_short(given)} is no field: it needs a name and a type")
        name, order = _text(given, "name"), _text(given, "order") or "ascending"
        if name is None:
            raise BadSchema('a field needs a "name"')
        _check_name(name)
        if order not in ("ascending", "descending", "ignore"):
            raise BadSchema(f"{_short(order)} is no order of a field")
        kind = self._type(given["type"], space, depth + 1)
        default = given.get("default", NOTHING)
        if default is not NOTHING and not fits(kind, default, self._budget):
            raise BadSchema(f"the default {_short(default)} of field {name} is no {kind.label}")
        aliases = tuple(_texts(given, "aliases"))
        props = _others(given, _OWN["field"])
        return AvroField(name, kind, default, aliases, _text(given, "doc"), order, props)


def _read_enum(made: AvroType, given: dict[str, Any]) -> None:
    symbols = given.get("symbols")
    if not isinstance(symbols, list) or not all(isinstance(each, str) for each in symbols):
        raise BadSchema(f'enum {made.name} needs a list of "symbols"')
    for each in symbols:
        _check_name(each)
    made.symbols, made.default = tuple(symbols), _text(given, "default")
    if len(set(symbols)) < len(symbols):
        raise BadSchema(f"enum {made.name} has a symbol twice")
    if made.default is not None and made.default not in symbols:
        raise BadSchema(f"the default {_short(made.default)} is no symbol of {made.name}")


def _read_fixed(made: AvroType, given: dict[str, Any]) -> None:
    size = given.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= LARGEST_FIXED:
        raise BadSchema(f'fixed {made.name} needs a "size" of 0 or more')
    made.size = size


RANGES = {"int": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}


def fits(kind: AvroType, value: Any, budget: Budget, depth: int = 0) -> bool:
    """Whether JSON may be a default of the type."""
    budget.spend()
    raise_if_deep(depth)

    def all_fit(items: Iterable[Any]) -> bool:
        assert kind.items is not None
        return all(fits(kind.items, each, budget, depth + 1) for each in items)

    match kind.kind:
        case "union":
            found = any(fits(each, value, budget, depth + 1) for each in kind.branches)
        case "array":
            found = isinstance(value, list) and all_fit(value)
        case "map":
            found = isinstance(value, dict) and all_fit(value.values())
        case "record":
            found = isinstance(value, dict) and all(
                fits(each.type, value[each.name], budget, depth + 1)
                if each.name in value
                else each.default is not NOTHING
                for each in kind.fields
            )
        case "enum":
            found = value in kind.symbols
        case _:
            found = _fits_simply(kind, value)
    return found


def _fits_simply(kind: AvroType, value: Any) -> bool:
    if kind.kind in RANGES:
        return is_whole(value) and in_range(kind, value)
    if kind.kind in ("float", "double"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind.kind in ("null", "boolean"):
        return value is None if kind.kind == "null" else isinstance(value, bool)
    return isinstance(value, str)


def in_range(kind: AvroType, value: int) -> bool:
    least, most = RANGES[kind.kind]
    return least <= value <= most


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise BadSchema(f"{_short(name)} is no name")


def _text(given: dict[str, Any], attribute: str) -> str | None:
    found = given.get(attribute)
    if found is not None and not isinstance(found, str):
        raise BadSchema(f'"{attribute}" is no text in {_short(given)}')
    return found


def _texts(given: dict[str, Any], attribute: str) -> Sequence[str]:
    found = given.get(attribute)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadSchema(f'"{attribute}" is no list of texts')
    return found


def _others(given: dict[str, Any], own: set[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in own}


def _short(value: Any) -> str:
    text = told(value)
    return text if len(text) <= 100 else f"{text[:100]}…"
