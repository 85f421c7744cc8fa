"""Generates the encoder of one message at one version as a Python function.

Like the decoder: one function, in which one call packs a run of fixed-size values. A length at the
end of a run is packed with it: a classic length always, a varint if it fits into one byte. So the
code for such a run has two branches, and the length selects one. `out` collects bytes up to the
next records. Records become separate segments, without a copy, and a new `out` starts after them.
Elements are counted as in the decoder, so that a long response can be encoded elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Any

from samsa.wire.errors import LongAnswer
from samsa.wire.rows import frozen_default
from samsa.wire.runtime import records_pieces, tag_section, varint_bytes
from samsa.wire.schema import Field, Message, Segment, Struct
from samsa.wire.source import GeneratedSource
from samsa.wire.types import RECORDS, STRING, UUID, Fixed, Primitive

_RUNTIME = {
    "LongAnswer": LongAnswer,
    "pack": pack,
    "records_pieces": records_pieces,
    "tag_section": tag_section,
    "varint_bytes": varint_bytes,
}
_ZERO = "x"


def compile_encoder(message: Message, version: int) -> Callable[[Any, int], list[Segment]]:
    """The function takes the row and the limit of elements."""
    writer = _Writer(message, version)
    writer.source.emit("segments = []", "out = bytearray()")
    writer.struct(message, "root")
    writer.flush()
    writer.source.emit("if out: segments.append(out)", "return segments")
    label = f"{message.name} v{version} encoder"
    encoder: Callable[[Any, int], list[Segment]] = writer.source.function("root, left", label)
    return encoder


class _Writer:
    """`out` is the buffer being filled, `run` the pending fixed-size writes."""

    def __init__(self, message: Message, version: int) -> None:
        self.version = version
        self.flexible = message.flexible(version)
        self.run: list[tuple[str, str]] = []
        self.out = "out"
        self.source = GeneratedSource(_RUNTIME)

    def struct(self, struct: Struct, row: str) -> None:
        present = [field for field in struct.fields if field.present(self.version)]
        for field in present:
            if field.tag is None:
                self.field(field, f"{row}.{field.name}")
        if self.flexible:
            self.tags([field for field in present if field.tag is not None], row)

    def field(self, field: Field, value: str) -> None:
        nullable = field.nullable(self.version)
        if field.is_array:
            self.array(field.type, value, nullable)
        elif isinstance(field.type, Struct):
            self.nested(field.type, value, nullable)
        else:
            self.primitive(field.type, value, nullable)

    def primitive(self, type_: Primitive, value: str, nullable: bool) -> None:
        if type_ is UUID:
            self.run.append((type_.code, f"{value}.bytes"))
        elif isinstance(type_, Fixed):
            self.run.append((type_.code, value))
        elif type_ is RECORDS:
            self.records(value)
        else:
            self.sized(type_, value, nullable)

    def nested(self, struct: Struct, value: str, nullable: bool) -> None:
        row = self.source.fresh("row")
        self.source.emit(f"{row} = {value}")
        if not nullable:
            self.struct(struct, row)
            return
        self.run.append(("b", f"-1 if {row} is None else 1"))
        self.flush()
        with self.source.block(f"if {row} is not None:"):
            self.struct(struct, row)
            self.flush()

    def sized(self, type_: Primitive, value: str, nullable: bool) -> None:
        text, n = self.source.fresh("text"), self.source.fresh("n")
        encoded = f"{value}.encode()" if type_ is STRING else value
        if nullable:
            self.source.emit(f"{text} = {value}", f"if {text} is None: {n} = -1")
            encoded = encoded.replace(value, text)
            self.source.emit(f"else: {text} = {encoded}; {n} = len({text})")
        else:
            self.source.emit(f"{text} = {encoded}", f"{n} = len({text})")
        self.length(type_.code, n)
        self.source.emit(f"if {n} > 0: {self.out} += {text}")

    def records(self, value: str) -> None:
        n, pieces = self.source.fresh("n"), self.source.fresh("pieces")
        self.source.emit(f"{n}, {pieces} = records_pieces({value})")
        self.length(RECORDS.code, n)
        with self.source.block(f"if {pieces}:"):
            self.source.emit("segments.append(out)", f"segments += {pieces}", "out = bytearray()")

    def array(self, type_: Primitive | Struct, value: str, nullable: bool) -> None:
        items, n = self.source.fresh("items"), self.source.fresh("n")
        length = f"-1 if {items} is None else len({items})" if nullable else f"len({items})"
        self.source.emit(f"{items} = {value}", f"{n} = {length}")
        self.source.emit(f"left -= {n}", "if left < 0: raise LongAnswer")
        self.length("i", n)
        if isinstance(type_, Fixed) and type_ is not UUID:
            numbers = f'pack(f">{{{n}}}{type_.code}", *{items})'
            self.source.emit(f"if {n} > 0: {self.out} += {numbers}")
        else:
            self.items(type_, f"{items} or ()" if nullable else items)

    def items(self, type_: Primitive | Struct, items: str) -> None:
        item = self.source.fresh("row")
        with self.source.block(f"for {item} in {items}:"):
            if isinstance(type_, Struct):
                self.struct(type_, item)
            else:
                self.primitive(type_, item, nullable=False)
            self.flush()

    def tags(self, tagged: list[Field], row: str) -> None:
        if not tagged:
            self.run.append((_ZERO, ""))
            return
        tags = self.source.fresh("tags")
        self.source.emit(f"{tags} = None")
        for field in sorted(tagged, key=lambda field: field.tag or 0):
            self.tagged(field, f"{row}.{field.name}", tags)
        self.either(f"{tags} is None", _ZERO, "", f"tag_section({tags})")

    def tagged(self, field: Field, value: str, tags: str) -> None:
        """Write the value into a separate buffer, because its size comes before it."""
        run, out = self.run, self.out
        self.run, self.out = [], self.source.fresh("out")
        with self.source.block(f"if {self.differs(field, value)}:"):
            self.source.emit(f"{self.out} = bytearray()")
            self.field(field, value)
            self.flush()
            self.source.emit(f"{tags} = {tags} or []")
            self.source.emit(f"{tags}.append(({field.tag}, {self.out}))")
        self.run, self.out = run, out

    def differs(self, field: Field, value: str) -> str:
        if field.default_struct:
            default = self.source.constant(frozen_default(field.default_struct))
            return f"{value} is not {default} and {value} != {default}"
        return f"{value} != {self.source.constant(field.default)}"

    def length(self, classic: str, n: str) -> None:
        if self.flexible:
            self.source.emit(f"{n}_ = {n} + 1")
            self.either(f"{n}_ < 128", "B", f"{n}_", f"varint_bytes({n}_)")
        else:
            self.run.append((classic, n))
            self.flush()

    def either(self, condition: str, code: str, value: str, otherwise: str) -> None:
        """If the condition holds, pack one more value with the run; else write other bytes after
        the run."""
        short, long = self.packed([*self.run, (code, value)]), otherwise
        if self.run:
            long = f"{self.packed(self.run)} + {otherwise}"
        self.run = []
        self.source.emit(f"{self.out} += {short} if {condition} else {long}")

    def flush(self) -> None:
        if self.run:
            self.source.emit(f"{self.out} += {self.packed(self.run)}")
        self.run = []

    def packed(self, run: list[tuple[str, str]]) -> str:
        codes = "".join(code for code, _ in run)
        if not codes.strip(_ZERO):
            return repr(bytes(len(codes)))
        values = ", ".join(value for _, value in run if value)
        return f"{self.source.packing('pack', codes)}({values})"
