"""Generates the decoder of one message at one version as a Python function.

Everything is inlined in one function. Adjacent fixed-size values are read by one `unpack_from`, and
so is the length that follows them: a classic length has a fixed size anyway, and of a varint the
first byte is read, which is nearly always all of it. Errors at the end of the input (struct.error,
IndexError) become a DecodeError in `Message.decode`.

Elements of all arrays and tagged fields are counted together, each array before it is created:
`left` is how many more are allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from struct import unpack_from
from typing import Any

from samsa.wire.errors import DecodeError, TooManyElements
from samsa.wire.rows import default_source
from samsa.wire.runtime import (
    long_string_varint,
    long_varint,
    skip_tags,
    tag_header,
    to_uuid,
)
from samsa.wire.schema import Field, Message, Struct
from samsa.wire.sizes import smallest
from samsa.wire.source import GeneratedSource, packer
from samsa.wire.types import STRING, UUID, Fixed, Primitive

_RUNTIME = {
    "DecodeError": DecodeError,
    "TooManyElements": TooManyElements,
    "long_string_varint": long_string_varint,
    "long_varint": long_varint,
    "new": object.__new__,
    "skip_tags": skip_tags,
    "tag_header": tag_header,
    "to_uuid": to_uuid,
    "unpack_from": unpack_from,
}


def compile_decoder(message: Message, version: int) -> Callable[[memoryview, int], tuple[Any, int]]:
    """The function takes the bytes and the limit of elements; it returns the row and its end."""
    writer = _Writer(message, version)
    writer.struct(message, "root")
    writer.flush()
    writer.source.emit("return root, at")
    decoder: Callable[[memoryview, int], tuple[Any, int]]
    decoder = writer.source.function("data, left", writer.label)
    return decoder


class _Writer:
    """`at` is the position in `data`, `end` its length, `run` the pending fixed-size reads."""

    where = ""

    def __init__(self, message: Message, version: int) -> None:
        self.version = version
        self.flexible = message.flexible(version)
        self.label = f"{message.name} v{version}"
        self.run: list[tuple[str, str]] = []
        self.after_run: list[str] = []
        self.source = GeneratedSource(_RUNTIME)
        self.source.emit("at = 0", "end = len(data)")

    def struct(self, struct: Struct, row: str) -> None:
        self.source.emit(f"{row} = new({self.source.constant(struct.row)})")
        present = [field for field in struct.fields if field.present(self.version)]
        tagged = [field for field in present if field.tag is not None]
        for field in struct.fields:
            self.where = f"{struct.name}.{field.name}"
            if field in present and field not in tagged:
                self.field(field, f"{row}.{field.name}")
            else:
                default = default_source(field, self.source.names)
                self.source.emit(f"{row}.{field.name} = {default}")
        if self.flexible:
            self.tags(tagged, row)

    def field(self, field: Field, target: str) -> None:
        nullable = field.nullable(self.version)
        if field.is_array:
            self.array(field.type, target, nullable)
        elif isinstance(field.type, Struct):
            self.nested(field.type, target, nullable)
        else:
            self.primitive(field.type, target, nullable)

    def primitive(self, type_: Primitive, target: str, nullable: bool) -> None:
        if not isinstance(type_, Fixed):
            self.sized(type_, target, nullable)
        elif type_ is UUID:
            raw = self.source.fresh("raw")
            self.run.append((type_.code, raw))
            self.after_run.append(f"{target} = to_uuid({raw})")
        else:
            self.run.append((type_.code, target))

    def nested(self, struct: Struct, target: str, nullable: bool) -> None:
        row = self.source.fresh("row")
        n = self.length("b", varint=False) if nullable else ""
        with self.unless_null(n, target):
            self.struct(struct, row)
            if nullable:
                self.flush()
            self.source.emit(f"{target} = {row}")

    def sized(self, type_: Primitive, target: str, nullable: bool) -> None:
        rest = "long_string_varint" if type_ is STRING else "long_varint"
        n = self.length(type_.code, varint=self.flexible, rest=rest)
        value = 'str(data[at:stop], "utf-8")' if type_ is STRING else "data[at:stop]"
        with self.unless_null(n if nullable else "", target):
            self.source.emit(f"stop = at + {n}")
            self.refuse_unless("at <= stop <= end", f"{self.where} is null or runs past the end")
            self.source.emit(f"{target} = {value}", "at = stop")

    def array(self, type_: Primitive | Struct, target: str, nullable: bool) -> None:
        n = self.length("i", varint=self.flexible)
        with self.unless_null(n if nullable else "", target):
            room = f"0 <= {n} * {smallest(type_, self.version, self.flexible)} <= end - at"
            self.refuse_unless(room, f"{self.where} is null or longer than the input")
            self.count(n)
            if isinstance(type_, Fixed) and type_ is not UUID:
                numbers = f'unpack_from(f">{{{n}}}{type_.code}", data, at)'
                self.source.emit(f"{target} = list({numbers})", f"at += {n} * {type_.size}")
            else:
                self.items(type_, target, n)

    def items(self, type_: Primitive | Struct, target: str, n: str) -> None:
        items, item = self.source.fresh("items"), self.source.fresh("row")
        self.source.emit(f"{target} = {items} = []")
        with self.source.block(f"for _ in range({n}):"):
            if isinstance(type_, Struct):
                self.struct(type_, item)
            else:
                self.primitive(type_, item, nullable=False)
            self.flush()
            self.source.emit(f"{items}.append({item})")

    def tags(self, tagged: list[Field], row: str) -> None:
        n = self.source.fresh("n")
        self.run.append(("B", n))
        self.flush()
        if not tagged:
            self.source.emit(f"if {n}: at, left = skip_tags(data, at, {n}, left)")
            return
        self.source.emit(f"if {n} > 127: {n}, at = long_varint(data, at, {n})")
        self.count(n)
        with self.source.block(f"for _ in range({n}):"):
            self.known_tags(tagged, row)

    def known_tags(self, tagged: list[Field], row: str) -> None:
        tag, stop = self.source.fresh("tag"), self.source.fresh("stop")
        self.source.emit(f"{tag}, at, {stop} = tag_header(data, at)")
        for field in tagged:
            with self.source.block(f"if {tag} == {field.tag}:"):
                self.field(field, f"{row}.{field.name}")
                self.flush()
                self.refuse_unless(f"at == {stop}", f"{field.name} is not as long as it says")
        self.source.emit(f"at = {stop}")

    def length(self, code: str, *, varint: bool, rest: str = "long_varint") -> str:
        """Read a length into a variable; null is negative in both encodings. `rest` reads what
        follows the first byte of a varint."""
        n = self.source.fresh("n")
        self.run.append(("B" if varint else code, n))
        self.flush()
        if varint:
            self.source.emit(f"if {n} > 127: {n}, at = {rest}(data, at, {n})", f"{n} -= 1")
        return n

    def unless_null(self, n: str, target: str) -> AbstractContextManager[None]:
        """A block for the value, after a branch for null if `n` may be negative."""
        if not n:
            return nullcontext()
        self.source.emit(f"if {n} < 0: {target} = None")
        return self.source.block("else:")

    def flush(self) -> None:
        codes = "".join(code for code, _ in self.run)
        targets = "".join(target + ", " for _, target in self.run)
        if codes == "B":
            self.source.emit(f"{targets[:-2]} = data[at]", "at += 1")
        elif codes:
            unpack = self.source.packing("unpack_from", codes)
            self.source.emit(f"{targets}= {unpack}(data, at)", f"at += {packer(codes).size}")
        self.source.emit(*self.after_run)
        self.run, self.after_run = [], []

    def count(self, n: str) -> None:
        text = f"{self.label}: too many elements, in {self.where}"
        self.source.emit(f"left -= {n}", f"if left < 0: raise TooManyElements({text!r})")

    def refuse_unless(self, condition: str, problem: str) -> None:
        text = f"{self.label}: {problem}"
        self.source.emit(f"if not {condition}: raise DecodeError({text!r})")
