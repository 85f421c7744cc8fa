"""The fewest bytes that a value can take. An array's length is checked against this before the
array is created."""

from __future__ import annotations

from samsa.wire.schema import Field, Struct
from samsa.wire.types import Fixed, Primitive

ARRAY_LENGTH_SIZE = 4


def smallest(type_: Primitive | Struct, version: int, flexible: bool) -> int:
    if isinstance(type_, Struct):
        fields = (f for f in type_.fields if f.tag is None and f.present(version))
        return sum(_smallest_field(f, version, flexible) for f in fields) + flexible
    if isinstance(type_, Fixed):
        return type_.size
    return 1 if flexible else type_.size


def _smallest_field(field: Field, version: int, flexible: bool) -> int:
    if field.is_array:
        return 1 if flexible else ARRAY_LENGTH_SIZE
    if isinstance(field.type, Struct) and field.nullable(version):
        return 1
    return smallest(field.type, version, flexible)
