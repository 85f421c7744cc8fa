"""What a registry keeps of a schema."""

from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple


class SchemaKind(StrEnum):
    AVRO = "AVRO"
    JSON = "JSON"
    PROTOBUF = "PROTOBUF"


class Reference(NamedTuple):
    """A schema that is registered under a subject, and its name in the schema that refers to it."""

    name: str
    subject: str
    version: int


class Content(NamedTuple):
    """Schemas with the same content have the same id."""

    kind: SchemaKind
    text: str
    references: tuple[Reference, ...] = ()

    def digest(self) -> bytes:
        """The same for equal contents only. The parts cannot be taken for one another: each has
        its length before it."""
        parts = [self.kind, self.text, *(str(field) for each in self.references for field in each)]
        told = "".join(f"{len(part)}:{part}" for part in parts)
        return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Registered(NamedTuple):
    """One version of a subject."""

    subject: str
    version: int
    id: int
    content: Content
    deleted: bool = False


class NamedText(NamedTuple):
    """What a reference leads to."""

    name: str
    text: str
