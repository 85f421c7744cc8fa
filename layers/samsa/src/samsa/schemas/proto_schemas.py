"""Protobuf schemas: a text or a serialized descriptor, resolved by the library's descriptor pool.

A value begins with the path to its message: a schema may have several. Then follow the bytes of the
message, which JSON stands for as Protobuf defines it.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from google.protobuf import descriptor_pb2 as pb
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from .budget import DEPTH, Budget, spend_for
from .contents import NamedText, SchemaKind
from .errors import BadSchema, BadValue
from .proto_parser import ProtoParser
from .proto_rules import ProtoRules
from .proto_texts import printed

FILE = "schema.proto"
WELL_KNOWN = {
    f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2"
    for name in (
        "any", "api", "descriptor", "duration", "empty", "field_mask", "source_context", "struct",
        "timestamp", "type", "wrappers",
    )
}  # fmt: skip
LONGEST_VARINT = 5
DEEPEST_MESSAGE = 100


class ProtoSchema:
    kind = SchemaKind.PROTOBUF

    def __init__(self, text: str, references: Sequence[NamedText], budget: Budget) -> None:
        """Raises BadSchema."""
        self._pool = DescriptorPool()
        self._added: set[str] = set()
        for each in references:
            self._add(_file(each.text, each.name, budget)[0])
        given, is_text = _file(text, FILE, budget)
        self._add(given)
        self._descriptor = self._pool.FindFileByName(FILE)
        self.file = pb.FileDescriptorProto()
        self._descriptor.CopyToProto(self.file)
        self.text = text.strip() if is_text else printed(given)

    def _add(self, file: pb.FileDescriptorProto) -> None:
        if file.name in self._added:
            return
        self._added.add(file.name)
        for name in file.dependency:
            if name in WELL_KNOWN and name not in self._added:
                known = import_module(WELL_KNOWN[name]).DESCRIPTOR
                self._add(pb.FileDescriptorProto.FromString(known.serialized_pb))
        try:
            self._pool.AddSerializedFile(file.SerializeToString())
        except TypeError as error:
            raise BadSchema(str(error).rpartition("descriptor pool: ")[2]) from None

    @property
    def normalized(self) -> str:
        return printed(self.file)

    def serialized(self) -> str:
        """The descriptor in base64, as clients may ask for it."""
        return base64.b64encode(self.file.SerializeToString()).decode()

    def unread(self, writer: "ProtoSchema", budget: Budget) -> list[str]:
        found = ProtoRules(self.file, writer.file, budget).problems()
        return [f"{{errorType:'{name}', description:'at path {path!r}'}}" for name, path in found]

    def decode(self, data: bytes, budget: Budget | None = None) -> Any:
        """Raises BadValue."""
        spend_for(data, budget)
        path, at = _path(data)
        message = GetMessageClass(self._message(path))()
        try:
            message.ParseFromString(data[at:])
            return json.loads(json_format.MessageToJson(message, descriptor_pool=self._pool))
        except (DecodeError, json_format.Error, ValueError, RecursionError, TypeError) as error:
            raise BadValue(f"it is no {message.DESCRIPTOR.full_name}: {error}") from None

    def encode(self, value: Any, budget: Budget) -> bytes:  # noqa: ARG002
        """As the schema's first message. Raises BadValue."""
        message = GetMessageClass(self._message([0]))()
        if not isinstance(value, dict):
            raise BadValue(f"it is no {message.DESCRIPTOR.full_name}: it is no object")
        try:
            json_format.ParseDict(
                value, message, descriptor_pool=self._pool, max_recursion_depth=DEEPEST_MESSAGE
            )
            return b"\0" + bytes(message.SerializeToString(deterministic=True))
        except (json_format.Error, ValueError, RecursionError, TypeError, AttributeError) as error:
            raise BadValue(f"it is no {message.DESCRIPTOR.full_name}: {error}") from None

    def _message(self, path: Sequence[int]) -> Descriptor:
        """By its number in the file, and in the message around it."""
        found: Any = None
        inside: Any = list(self._descriptor.message_types_by_name.values())
        order = self.file.message_type
        for number in path:
            if not 0 <= number < len(order):
                raise BadValue(f"the schema has no message {'.'.join(map(str, path))}")
            names = {each.name: each for each in inside}
            found = names[order[number].name]
            inside, order = found.nested_types, order[number].nested_type
        return found


def _file(text: str, name: str, budget: Budget) -> tuple[pb.FileDescriptorProto, bool]:
    """The descriptor; whether it came as text. Some clients send it serialized, in base64."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
        file = pb.FileDescriptorProto.FromString(data)
    except (UnicodeEncodeError, binascii.Error, ValueError, DecodeError):
        return ProtoParser(name, text, budget).parse(), True
    budget.spend(len(data) // 10)
    file.name = name
    return file, False


def _path(data: bytes) -> tuple[list[int], int]:
    """The path to the message, and where its bytes begin. Raises BadValue."""
    count, at = _zigzag(data, 0)
    if not 0 <= count <= DEPTH:
        raise BadValue("the path to the message is too long")
    path = []
    for _ in range(count):
        number, at = _zigzag(data, at)
        path.append(number)
    return path or [0], at


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    found = 0
    for shift in range(0, 7 * LONGEST_VARINT, 7):
        if at >= len(data):
            break
        found |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return (found >> 1) ^ -(found & 1), at
    raise BadValue("the path to the message is cut")
