"""The small language that message tables are written in.

    PARTITION = Struct("Partition", Field("index", INT32), Field("records", RECORDS, nullable=True))
    REQUEST = Message("ThingRequest", Array("partitions", PARTITION), flexible_since=9)

`since` and `until` are the first and the last version that carry a field. A struct is called with
keywords to make a row: `PARTITION(index=3)`. Fields left out take Kafka's own defaults.
"""

from __future__ import annotations

import struct as packing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from samsa.wire.errors import DecodeError
from samsa.wire.rows import Row, row_class
from samsa.wire.types import (
    BOOLEAN,
    BYTES,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    RECORDS,
    STRING,
    UINT16,
    UINT32,
    UUID,
    Primitive,
)

__all__ = [
    "BOOLEAN", "BYTES", "FLOAT64", "INT8", "INT16", "INT32", "INT64", "RECORDS", "STRING",
    "UINT16", "UINT32", "UUID", "Array", "Field", "Message", "Row", "Segment", "Struct",
]  # fmt: skip

Segment: TypeAlias = Any
"""Bytes, or an object that stands for bytes and has a `len()`: the writer knows how to send it."""

ANY_NUMBER: Final = 2**63
_TYPE_DEFAULT: Final = object()
_MALFORMED: Final = (packing.error, IndexError, UnicodeDecodeError)


class Field:
    """One named value of a struct."""

    is_array = False

    def __init__(
        self,
        name: str,
        type: Primitive | Struct,  # noqa: A002
        *,
        since: int = 0,
        until: int | None = None,
        nullable: bool = False,
        nullable_since: int | None = None,
        tag: int | None = None,
        default: Any = _TYPE_DEFAULT,
    ) -> None:
        self.name = name
        self.type = type
        self.since = since
        self.until = until
        self.nullable_since = since if nullable else nullable_since
        self.tag = tag
        self.default = self._type_default() if default is _TYPE_DEFAULT else default

    def _type_default(self) -> Any:
        return self.type.default if isinstance(self.type, Primitive) else self.type

    @property
    def default_struct(self) -> Struct | None:
        """The struct whose own defaults are this field's default, if it is such a field."""
        return self.type if isinstance(self.type, Struct) and self.default is self.type else None

    def present(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)

    def nullable(self, version: int) -> bool:
        return self.nullable_since is not None and self.nullable_since <= version


class Array(Field):
    """A field that holds a list of its type."""

    is_array = True

    def _type_default(self) -> Any:
        return []


class Struct:
    """A named group of fields; call it to make a row."""

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self.fields = fields
        self._row: type[Row] | None = None

    @property
    def row(self) -> type[Row]:
        if self._row is None:
            self._row = row_class(self.name, self.fields)
        return self._row

    def __call__(self, **values: Any) -> Any:
        return (self._row or self.row)(**values)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Message(Struct):
    """The root struct of a request or a response.

    A codec is compiled when its version is first used and kept, so the caller checks versions.
    """

    def __init__(self, name: str, *fields: Field, flexible_since: int) -> None:
        super().__init__(name, *fields)
        self.flexible_since = flexible_since
        self._decoders: dict[int, Callable[[memoryview, int], tuple[Any, int]]] = {}
        self._encoders: dict[int, Callable[[Any, int], list[Segment]]] = {}

    def flexible(self, version: int) -> bool:
        return version >= self.flexible_since

    def decode(
        self, version: int, body: memoryview, exact: bool = True, most: int = ANY_NUMBER
    ) -> Any:
        """`exact=False` ignores bytes that are left over, as Kafka's broker does. Raises
        TooManyElements, before they are created, if all arrays together have more elements than
        `most`."""
        decoder = self._decoders.get(version) or self._compile_decoder(version)
        try:
            row, end = decoder(body, most)
        except _MALFORMED as problem:
            raise DecodeError(f"{self.name} v{version}: {problem}") from problem
        if exact and end != len(body):
            raise DecodeError(f"{self.name} v{version}: bytes are left over")
        return row

    def encode(self, version: int, row: Any, most: int = ANY_NUMBER) -> list[Segment]:
        """Raises LongAnswer if the row's arrays hold more elements than `most`."""
        return (self._encoders.get(version) or self._compile_encoder(version))(row, most)

    def encode_bytes(self, version: int, row: Any) -> bytes:
        return b"".join(self.encode(version, row))

    def _compile_decoder(self, version: int) -> Callable[[memoryview, int], tuple[Any, int]]:
        from samsa.wire.decoder import compile_decoder

        return self._decoders.setdefault(version, compile_decoder(self, version))

    def _compile_encoder(self, version: int) -> Callable[[Any, int], list[Segment]]:
        from samsa.wire.encoder import compile_encoder

        return self._encoders.setdefault(version, compile_encoder(self, version))


if TYPE_CHECKING:
    R = TypeVar("R", bound=Row)

    class StructOf(Struct, Generic[R]):
        """A struct with the class of its rows, as the stubs of the tables declare it (`stubs.py`).
        For type checkers only: it does not exist at run time."""

        __call__: type[R]

    class MessageOf(Message, Generic[R]):
        __call__: type[R]
