"""Rows: the values of a struct, one generated class per struct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

if TYPE_CHECKING:
    from samsa.wire.schema import Field, Struct

_MISSING: Final = object()
_FROZEN: Final[dict[type[Row], Row]] = {}


class Row:
    """Attributes named as Kafka's JSON names them, in snake_case."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    field_names: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row) or self.field_names is not other.field_names:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.field_names)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.field_names)
        return f"{type(self).__name__}({values})"


def row_class(name: str, fields: tuple[Field, ...]) -> type[Row]:
    names = tuple(field.name for field in fields)
    body = {"__slots__": names, "field_names": names, "__init__": _initialiser(fields)}
    return type(name, (Row,), body)


def default_source(field: Field, namespace: dict[str, Any]) -> str:
    """An expression for the field's default, whose names are added to the namespace.

    The default of a nested struct is one shared, immutable row: most rows never use their nested
    structs, and creating them every time would cost more than the rest of the row.
    """
    if field.default == []:
        return "[]"
    name = f"default_{len(namespace)}"
    namespace[name] = field.default
    struct = field.default_struct
    if struct is None:
        return name
    if _holds_arrays(struct):
        return f"{name}()"
    namespace[name] = frozen_default(struct)
    return name


def frozen_default(struct: Struct) -> Row:
    if struct.row not in _FROZEN:
        frozen = type(struct.name, (struct.row,), {"__slots__": ()})
        _FROZEN[struct.row] = frozen()
        frozen.__setattr__ = _refuse  # type: ignore[assignment]
    return _FROZEN[struct.row]


def _refuse(self: Row, name: str, _: object) -> NoReturn:
    raise AttributeError(f"{self!r} is a shared default: assign a new row, not its {name}")


def _holds_arrays(struct: Struct) -> bool:
    return any(
        field.is_array or (field.default_struct and _holds_arrays(field.default_struct))
        for field in struct.fields
    )


def _initialiser(fields: tuple[Field, ...]) -> Any:
    """Write `__init__` out in full: keywords with defaults, a fresh list for every array."""
    namespace: dict[str, Any] = {"missing": _MISSING}
    parameters, lines = [], []
    for field in fields:
        name, default = field.name, default_source(field, namespace)
        fresh = default.endswith(("[]", "()"))
        parameters.append(f"{name}={'missing' if fresh else default}")
        value = f"{default} if {name} is missing else {name}" if fresh else name
        lines.append(f"\n    self.{name} = {value}")
    star = "*, " if parameters else ""
    source = f"def __init__(self, {star}{', '.join(parameters)}):{''.join(lines) or ' pass'}"
    exec(source, namespace)  # noqa: S102  # made of our own tables
    return namespace["__init__"]
