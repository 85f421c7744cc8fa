"""Avro's binary encoding, and the JSON that stands for it.

The JSON is that of the specification: a value of a union is null, or an object with the name of its
type; bytes are text with a character for each byte. A value to be written may leave out the name
of its type. Logical types are shown as what they are stored as.
"""

import math
import struct
from collections.abc import Callable, Iterator
from typing import Any

from .avro_types import NOTHING, AvroType, in_range, is_whole
from .budget import DEPTH, Budget
from .errors import BadValue, TooComplex

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
NO_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
LONGEST_VARINT = 10


def decoded(kind: AvroType, data: bytes, budget: Budget) -> Any:
    """Raises BadValue."""
    reader = _Reader(data, budget)
    value = reader.value(kind, 0)
    if reader.left:
        raise BadValue(f"{reader.left} bytes are left over")
    return value


class _Reader:
    def __init__(self, data: bytes, budget: Budget) -> None:
        """An array of nulls may have more of them than there is time: hence the budget."""
        self._data = data
        self._at = 0
        self._budget = budget

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def value(self, kind: AvroType, depth: int) -> Any:
        _check(self._budget, depth)
        return _READERS[kind.kind](self, kind, depth)

    def read_null(self, _: AvroType, _depth: int) -> None:
        return None

    def read_boolean(self, _: AvroType, _depth: int) -> bool:
        return self._take(1) != b"\0"

    def read_whole(self, _: AvroType, _depth: int) -> int:
        return self._long()

    def read_float(self, _: AvroType, _depth: int) -> Any:
        return _number(_FLOAT.unpack(self._take(4))[0])

    def read_double(self, _: AvroType, _depth: int) -> Any:
        return _number(_DOUBLE.unpack(self._take(8))[0])

    def read_bytes(self, _: AvroType, _depth: int) -> str:
        return self._take(self._long()).decode("latin-1")

    def read_fixed(self, kind: AvroType, _depth: int) -> str:
        return self._take(kind.size).decode("latin-1")

    def read_string(self, _: AvroType, _depth: int) -> str:
        return self._string()

    def read_enum(self, kind: AvroType, _depth: int) -> str:
        return kind.symbols[self._index(len(kind.symbols))]

    def read_union(self, kind: AvroType, depth: int) -> Any:
        branch = kind.branches[self._index(len(kind.branches))]
        value = self.value(branch, depth + 1)
        return None if branch.kind == "null" else {branch.label: value}

    def read_array(self, kind: AvroType, depth: int) -> list[Any]:
        assert kind.items is not None
        return [self.value(kind.items, depth + 1) for _ in self._blocks()]

    def read_map(self, kind: AvroType, depth: int) -> dict[str, Any]:
        assert kind.items is not None
        return {self._string(): self.value(kind.items, depth + 1) for _ in self._blocks()}

    def read_record(self, kind: AvroType, depth: int) -> dict[str, Any]:
        return {each.name: self.value(each.type, depth + 1) for each in kind.fields}

    def _blocks(self) -> Iterator[int]:
        while count := self._long():
            if count < 0:
                self._long()  # the size of the block
                count = -count
            yield from range(count)

    def _string(self) -> str:
        try:
            return self._take(self._long()).decode()
        except UnicodeDecodeError:
            raise BadValue("a text is no UTF-8") from None

    def _index(self, count: int) -> int:
        found = self._long()
        if not 0 <= found < count:
            raise BadValue(f"there is no symbol or branch {found}")
        return found

    def _long(self) -> int:
        found = shift = 0
        for _ in range(LONGEST_VARINT):
            byte = self._take(1)[0]
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (found >> 1) ^ -(found & 1)
            shift += 7
        raise BadValue("a number is too long")

    def _take(self, count: int) -> bytes:
        if not 0 <= count <= self.left:
            raise BadValue("the value ends too early")
        self._at += count
        return self._data[self._at - count : self._at]


_READERS: dict[str, Callable[[_Reader, AvroType, int], Any]] = {
    "null": _Reader.read_null,
    "boolean": _Reader.read_boolean,
    "int": _Reader.read_whole,
    "long": _Reader.read_whole,
    "float": _Reader.read_float,
    "double": _Reader.read_double,
    "bytes": _Reader.read_bytes,
    "fixed": _Reader.read_fixed,
    "string": _Reader.read_string,
    "enum": _Reader.read_enum,
    "union": _Reader.read_union,
    "array": _Reader.read_array,
    "map": _Reader.read_map,
    "record": _Reader.read_record,
}


def encoded(kind: AvroType, value: Any, budget: Budget) -> bytes:
    """Raises BadValue."""
    return b"".join(_Writer(budget).parts(kind, value, "value", 0))


class _Writer:
    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def parts(self, kind: AvroType, value: Any, path: str, depth: int) -> list[bytes]:
        _check(self._budget, depth)
        found = _simple(kind, value, path)
        if found is not None:
            return found
        if kind.kind == "union":
            return self._union(kind, value, path, depth)
        if kind.kind == "array" and isinstance(value, list):
            return self._array(kind, value, path, depth)
        if isinstance(value, dict) and kind.kind in ("map", "record"):
            write = self._map if kind.kind == "map" else self._record
            return write(kind, value, path, depth)
        raise BadValue(f"{path} is no {kind.label}")

    def _union(self, kind: AvroType, value: Any, path: str, depth: int) -> list[bytes]:
        if isinstance(value, dict) and len(value) == 1:
            ((name, inner),) = value.items()
            for number, branch in enumerate(kind.branches):
                if branch.label == name and branch.kind != "null":
                    found = self.parts(branch, inner, f"{path}.{name}", depth + 1)
                    return [_varint(number), *found]
        for number, branch in enumerate(kind.branches):
            try:
                return [_varint(number), *self.parts(branch, value, path, depth + 1)]
            except BadValue:
                continue
        labels = ", ".join(each.label for each in kind.branches)
        raise BadValue(f"{path} is none of {labels}")

    def _array(self, kind: AvroType, value: list[Any], path: str, depth: int) -> list[bytes]:
        assert kind.items is not None
        found = [_varint(len(value))] if value else []
        for number, each in enumerate(value):
            found += self.parts(kind.items, each, f"{path}[{number}]", depth + 1)
        return [*found, b"\0"]

    def _map(self, kind: AvroType, value: dict[str, Any], path: str, depth: int) -> list[bytes]:
        assert kind.items is not None
        found = [_varint(len(value))] if value else []
        for name, each in value.items():
            found += _prefixed(_utf8(name, path))
            found += self.parts(kind.items, each, f"{path}.{name}", depth + 1)
        return [*found, b"\0"]

    def _record(self, kind: AvroType, value: dict[str, Any], path: str, depth: int) -> list[bytes]:
        unknown = value.keys() - {each.name for each in kind.fields}
        if unknown:
            raise BadValue(f"{path} has {sorted(unknown)[0]!r}, which {kind.name} has not")
        found: list[bytes] = []
        for each in kind.fields:
            given = value.get(each.name, each.default)
            if given is NOTHING:
                raise BadValue(f"{path}.{each.name} is missing, and has no default")
            found += self.parts(each.type, given, f"{path}.{each.name}", depth + 1)
        return found


def _simple(kind: AvroType, value: Any, path: str) -> list[bytes] | None:
    """None if it is not that simple, or does not fit."""
    found: list[bytes] | None = None
    match kind.kind:
        case "null" if value is None:
            found = []
        case "boolean" if isinstance(value, bool):
            found = [b"\1" if value else b"\0"]
        case "int" | "long" if is_whole(value) and in_range(kind, value):
            found = [_varint(value)]
        case "float" | "double":
            found = [_packed(_FLOAT if kind.kind == "float" else _DOUBLE, value, path)]
        case "bytes" | "fixed" if isinstance(value, str):
            found = _bytes(kind, value, path)
        case "string" if isinstance(value, str):
            found = _prefixed(_utf8(value, path))
        case "enum" if isinstance(value, str) and value in kind.symbols:
            found = [_varint(kind.symbols.index(value))]
    return found


def _check(budget: Budget, depth: int) -> None:
    """Raises BadValue."""
    try:
        budget.spend()
    except TooComplex as error:
        raise BadValue(str(error)) from None
    if depth > DEPTH:
        raise BadValue(f"it is nested more than {DEPTH} levels deep")


def _bytes(kind: AvroType, value: str, path: str) -> list[bytes]:
    try:
        data = value.encode("latin-1")
    except UnicodeEncodeError:
        raise BadValue(f"{path} has characters that stand for no byte") from None
    if kind.kind == "bytes":
        return _prefixed(data)
    if len(data) != kind.size:
        raise BadValue(f"{path} has {len(data)} bytes, and {kind.name} has {kind.size}")
    return [data]


def _packed(form: struct.Struct, value: Any, path: str) -> bytes:
    value = NO_NUMBERS.get(value, value) if isinstance(value, str) else value
    try:
        if not isinstance(value, bool):
            return form.pack(value)
    except (struct.error, OverflowError):
        pass
    raise BadValue(f"{path} is no number that fits")


def _number(value: float) -> float | str:
    """JSON has no infinity, and no NaN."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _utf8(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadValue(f"{path} has text that is not Unicode") from None


def _prefixed(data: bytes) -> list[bytes]:
    return [_varint(len(data)), data]


def _varint(value: int) -> bytes:
    left = (value << 1) ^ (value >> 63)
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)
