"""Every array of every request, and rows that are long in one of them."""

from collections.abc import Iterator
from typing import Any

from samsa.wire.schema import INT32, STRING, Field, Struct

Path = tuple[str, ...]
"""The names that lead to an array."""


def arrays(struct: Struct, version: int, path: Path = ()) -> Iterator[Path]:
    """Those of a message at a version."""
    for field in struct.fields:
        if not field.present(version):
            continue
        if field.is_array:
            yield (*path, field.name)
        if isinstance(field.type, Struct):
            yield from arrays(field.type, version, (*path, field.name))


def row_with(struct: Struct, version: int, path: Path, count: int) -> Any:
    """A row with `count` elements at the end of the path and one in each array on the way there."""
    row = whole(struct, version)
    field = next(field for field in struct.fields if field.name == path[0])
    if len(path) == 1:
        setattr(row, field.name, [element(field, version, number) for number in range(count)])
        return row
    assert isinstance(field.type, Struct)
    inner = row_with(field.type, version, path[1:], count)
    setattr(row, field.name, [inner] if field.is_array else inner)
    return row


def whole(struct: Struct, version: int) -> Any:
    """A row whose structs are of its own, and whose arrays are empty."""
    row = struct()
    for field in struct.fields:
        if field.is_array and field.tag is None:
            setattr(row, field.name, [])
        elif isinstance(field.type, Struct) and not field.is_array and field.present(version):
            setattr(row, field.name, whole(field.type, version))
    return row


def element(field: Field, version: int, number: int) -> Any:
    """Each differs from the others, where its type allows it."""
    if not isinstance(field.type, Struct):
        return _value(field, number)
    row = whole(field.type, version)
    for inner in field.type.fields:
        if inner.type in (STRING, INT32) and not inner.is_array:
            setattr(row, inner.name, _value(inner, number))
    return row


def _value(field: Field, number: int) -> Any:
    if field.type is STRING:
        return f"n{number}"
    return number if field.type is INT32 else field.type.default  # type: ignore[union-attr]
