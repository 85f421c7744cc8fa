"""The .proto text of a descriptor, in one form: what Protobuf itself does not need is not in it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf import descriptor_pb2 as pb

from .json_texts import told
from .proto_parser import LAST_FIELD, LAST_VALUE, SCALARS

NAMES = {number: name for name, number in SCALARS.items()}
LABELS = {1: "", 2: "required ", 3: "repeated "}
INDENT = "  "


def printed(file: pb.FileDescriptorProto) -> str:
    return "\n".join(_file(file)) + "\n"


def _file(file: pb.FileDescriptorProto) -> Iterator[str]:
    if file.syntax == "editions":
        yield f'edition = "{pb.Edition.Name(file.edition).removeprefix("EDITION_")}";'
    else:
        yield f'syntax = "{file.syntax or "proto2"}";'
    if file.package:
        yield f"package {file.package};"
    for number, name in enumerate(file.dependency):
        how = "public " if number in file.public_dependency else ""
        yield f"import {how}{told(name)};"
    yield from _options(file.options)
    for enum in file.enum_type:
        yield from _enum(enum)
    for message in file.message_type:
        yield from _message(message, file.syntax)
    yield from _extensions(file.extension, file.message_type, file.syntax)
    for service in file.service:
        yield from _block(f"service {service.name}", _service(service))


def _block(head: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"{head} {{"
    for line in lines:
        yield INDENT + line
    yield "}"


def _message(message: pb.DescriptorProto, syntax: str) -> Iterator[str]:
    yield from _block(f"message {message.name}", _members(message, syntax))


def _members(message: pb.DescriptorProto, syntax: str) -> Iterator[str]:
    yield from _options(message.options)
    yield from _reserved(message, LAST_FIELD)
    for each in message.extension_range:
        yield f"extensions {_range(each.start, each.end - 1, LAST_FIELD)};"
    for enum in message.enum_type:
        yield from _enum(enum)
    groups = _groups(message.field)
    for nested in message.nested_type:
        if not nested.options.map_entry and nested.name not in groups:
            yield from _message(nested, syntax)
    by_name, members = _by_name(message.nested_type), dict[int, list[pb.FieldDescriptorProto]]()
    for field in message.field:
        if not field.HasField("oneof_index") or field.proto3_optional:
            yield from _field(field, by_name, syntax)
        else:
            members.setdefault(field.oneof_index, []).append(field)
    for number, oneof in enumerate(message.oneof_decl):
        lines = [
            line
            for each in members.get(number, ())
            for line in _field(each, by_name, syntax, in_oneof=True)
        ]
        if lines:
            yield from _block(f"oneof {oneof.name}", lines)
    yield from _extensions(message.extension, message.nested_type, syntax)


def _groups(fields: Iterable[pb.FieldDescriptorProto]) -> set[str]:
    kind = pb.FieldDescriptorProto.TYPE_GROUP
    return {each.type_name.rpartition(".")[2] for each in fields if each.type == kind}


def _field(
    field: pb.FieldDescriptorProto,
    nested: Mapping[str, pb.DescriptorProto],
    syntax: str,
    in_oneof: bool = False,
) -> Iterator[str]:
    entry = _nested_of(field, nested)
    label = LABELS[field.label]
    if not label and not in_oneof and (field.proto3_optional or syntax in ("", "proto2")):
        label = "optional "
    if entry is not None and entry.options.map_entry:
        key, value = (_type(each) for each in entry.field)
        yield f"map<{key}, {value}> {field.name} = {field.number}{_brackets(field)};"
    elif field.type == pb.FieldDescriptorProto.TYPE_GROUP and entry is not None:
        head = f"{label}group {entry.name} = {field.number}{_brackets(field)}"
        yield from _block(head, _members(entry, syntax))
    else:
        yield f"{label}{_type(field)} {field.name} = {field.number}{_brackets(field)};"


def _nested_of(
    field: pb.FieldDescriptorProto, nested: Mapping[str, pb.DescriptorProto]
) -> pb.DescriptorProto | None:
    return nested.get(field.type_name.rpartition(".")[2])


def _by_name(nested: Any) -> dict[str, pb.DescriptorProto]:
    return {each.name: each for each in nested}


def _type(field: pb.FieldDescriptorProto) -> str:
    return field.type_name or NAMES[field.type]


def _brackets(field: pb.FieldDescriptorProto) -> str:
    found = []
    if field.HasField("default_value"):
        is_text = field.type in (SCALARS["string"], SCALARS["bytes"])
        found.append(f"default = {told(field.default_value) if is_text else field.default_value}")
    if field.HasField("json_name") and field.json_name != json_name(field.name):
        found.append(f"json_name = {told(field.json_name)}")
    found += [f"{name} = {value}" for name, value in _set(field.options)]
    return f" [{', '.join(found)}]" if found else ""


def json_name(name: str) -> str:
    """As protoc makes it: `unit_price` is `unitPrice`."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _enum(enum: pb.EnumDescriptorProto) -> Iterator[str]:
    def lines() -> Iterator[str]:
        yield from _options(enum.options)
        yield from _reserved(enum, LAST_VALUE)
        for value in enum.value:
            given = ", ".join(f"{name} = {each}" for name, each in _set(value.options))
            yield f"{value.name} = {value.number}{f' [{given}]' if given else ''};"

    yield from _block(f"enum {enum.name}", lines())


def _reserved(holder: Any, most: int) -> Iterator[str]:
    past = 0 if isinstance(holder, pb.EnumDescriptorProto) else 1
    for each in holder.reserved_range:
        yield f"reserved {_range(each.start, each.end - past, most)};"
    for name in holder.reserved_name:
        yield f"reserved {told(name)};"


def _range(first: int, last: int, most: int) -> str:
    return f"{first}" if first == last else f"{first} to {'max' if last == most else last}"


def _extensions(extensions: Any, nested: Any, syntax: str) -> Iterator[str]:
    by_name = _by_name(nested)
    for each in extensions:
        yield from _block(f"extend {each.extendee}", _field(each, by_name, syntax))


def _service(service: pb.ServiceDescriptorProto) -> Iterator[str]:
    yield from _options(service.options)
    for method in service.method:
        asked = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
        told_back = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
        head = f"rpc {method.name} ({asked}) returns ({told_back})"
        options = list(_options(method.options))
        yield from _block(head, options) if options else [f"{head};"]


def _options(options: Any) -> Iterator[str]:
    for name, value in _set(options):
        if name != "map_entry":
            yield f"option {name} = {value};"


def _set(options: Any) -> Iterator[tuple[str, str]]:
    """Protobuf's own options that are set, sorted."""
    for field, value in sorted(options.ListFields(), key=lambda each: str(each[0].name)):
        if field.is_extension or field.is_repeated or field.message_type is not None:
            continue
        if field.enum_type is not None:
            yield field.name, field.enum_type.values_by_number[value].name
        elif isinstance(value, bool):
            yield field.name, "true" if value else "false"
        else:
            yield field.name, told(value)
