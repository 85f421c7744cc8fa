"""Whether one Protobuf schema reads what was written with another: the rules of its wire format."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf import descriptor_pb2 as pb

from .budget import Budget
from .proto_parser import SCALARS

_GROUPS = (
    ("int32", "uint32", "int64", "uint64", "bool"),
    ("sint32", "sint64"),
    ("string", "bytes"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("float",),
    ("double",),
)
WIRE = {SCALARS[name]: group[0] for group in _GROUPS for name in group}
"""Types with the same word are written in the same way, and can be read as one another."""
ENUM = pb.FieldDescriptorProto.TYPE_ENUM
WIRE[ENUM] = "int32"
MESSAGES = {pb.FieldDescriptorProto.TYPE_MESSAGE, pb.FieldDescriptorProto.TYPE_GROUP}
REPEATED = pb.FieldDescriptorProto.LABEL_REPEATED
REQUIRED = pb.FieldDescriptorProto.LABEL_REQUIRED

Found = Iterator[tuple[str, str]]
"""Problems: the name of each, and where it is."""


class ProtoRules:
    def __init__(
        self, reader: pb.FileDescriptorProto, writer: pb.FileDescriptorProto, budget: Budget
    ) -> None:
        self._reader, self._writer = reader, writer
        self._budget = budget

    def problems(self) -> list[tuple[str, str]]:
        """Raises TooComplex."""
        return list(self._messages(self._reader.message_type, self._writer.message_type, "#/"))

    def _messages(self, reader: Any, writer: Any, path: str) -> Found:
        now = {each.name: each for each in reader}
        for was in writer:
            self._budget.spend()
            if was.name in now:
                yield from self._message(now[was.name], was, f"{path}{was.name}/")
            elif not was.options.map_entry:
                yield "MESSAGE_REMOVED", f"{path}{was.name}"

    def _message(self, reader: pb.DescriptorProto, writer: pb.DescriptorProto, path: str) -> Found:
        yield from self._messages(reader.nested_type, writer.nested_type, path)
        new, old = _by_number(reader.field), _by_number(writer.field)
        for number in sorted(new.keys() | old.keys()):
            self._budget.spend()
            at = f"{path}{number}"
            if number not in old:
                if new[number].label == REQUIRED:
                    yield "REQUIRED_FIELD_ADDED", at
            elif number not in new:
                if old[number].label == REQUIRED:
                    yield "REQUIRED_FIELD_REMOVED", at
                elif _is_in_oneof(old[number]):
                    yield "ONEOF_FIELD_REMOVED", at
            else:
                yield from self._field(new[number], old[number], at)
        yield from _oneofs(reader, old, path)

    def _field(
        self, new: pb.FieldDescriptorProto, old: pb.FieldDescriptorProto, path: str
    ) -> Found:
        if (new.type in WIRE) != (old.type in WIRE):
            yield "FIELD_KIND_CHANGED", path
        elif new.type in WIRE:
            if WIRE[new.type] != WIRE[old.type]:
                yield "FIELD_SCALAR_KIND_CHANGED", path
        elif new.type != old.type:
            yield "FIELD_KIND_CHANGED", path
        elif self._local(new.type_name, self._reader) != self._local(old.type_name, self._writer):
            yield "FIELD_NAMED_TYPE_CHANGED", path
        if (new.label == REPEATED) != (old.label == REPEATED) and _is_packable(new):
            yield "FIELD_NUMERIC_LABEL_CHANGED", path
        if (new.label == REQUIRED) != (old.label == REQUIRED):
            yield (
                ("REQUIRED_FIELD_ADDED" if new.label == REQUIRED else "REQUIRED_FIELD_REMOVED"),
                path,
            )

    def _local(self, name: str, file: pb.FileDescriptorProto) -> str:
        """Without the file's package, which may change."""
        return name.removeprefix(f".{file.package}." if file.package else ".")


def _oneofs(
    reader: pb.DescriptorProto, old: Mapping[int, pb.FieldDescriptorProto], path: str
) -> Found:
    """Fields that were on their own and are alternatives now: of several, one would be lost."""
    members: dict[int, list[pb.FieldDescriptorProto]] = {}
    for field in filter(_is_in_oneof, reader.field):
        members.setdefault(field.oneof_index, []).append(field)
    for number, oneof in enumerate(reader.oneof_decl):
        inside = members.get(number, [])
        known = [old[f.number] for f in inside if f.number in old]
        moved = [f for f in known if not _is_in_oneof(f)]
        if len(moved) > 1:
            yield "MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{path}{oneof.name}"
        elif moved and len(known) > 1:
            yield "FIELD_MOVED_TO_EXISTING_ONEOF", f"{path}{moved[0].number}"


def _by_number(fields: Iterable[pb.FieldDescriptorProto]) -> dict[int, pb.FieldDescriptorProto]:
    return {each.number: each for each in fields}


def _is_in_oneof(field: pb.FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _is_packable(field: pb.FieldDescriptorProto) -> bool:
    return field.type in WIRE and WIRE[field.type] != "string"
