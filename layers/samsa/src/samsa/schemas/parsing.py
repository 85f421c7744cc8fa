"""A schema of any kind. The library of a kind is imported with its first schema."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from .budget import Budget
from .contents import NamedText, SchemaKind
from .errors import BadSchema, NotInstalled

LONGEST = 1_000_000
"""Bytes of a schema's text; of all that it refers to together, `MOST_REFERRED`."""
MOST_REFERRED = 4_000_000
_HOMES = {
    SchemaKind.AVRO: ("avro_schemas", "AvroSchema"),
    SchemaKind.JSON: ("json_schemas", "JsonSchema"),
    SchemaKind.PROTOBUF: ("proto_schemas", "ProtoSchema"),
}


class Schema(Protocol):
    kind: SchemaKind
    text: str
    """In the form in which it is registered."""

    @property
    def normalized(self) -> str:
        """The text that schemas with the same meaning share."""

    def unread(self, writer: Any, budget: Budget) -> list[str]:
        """Why it cannot read what was written with another one of its kind. Raises TooComplex."""

    def decode(self, data: bytes, budget: Budget | None = None) -> Any:
        """JSON for a value's bytes. Raises BadValue."""

    def encode(self, value: Any, budget: Budget) -> bytes:
        """The bytes that JSON stands for. Raises BadValue, BadSchema."""


def parse(kind: SchemaKind, text: str, references: Sequence[NamedText] = ()) -> Schema:
    """`references`: each after those that it refers to. Raises BadSchema, NotInstalled."""
    if len(text) > LONGEST:
        raise BadSchema(f"it has more than {LONGEST} characters")
    if sum(len(each.text) for each in references) > MOST_REFERRED:
        raise BadSchema(f"what it refers to has more than {MOST_REFERRED} characters")
    home, name = _HOMES[kind]
    try:
        make: Callable[..., Schema] = getattr(import_module(f".{home}", __package__), name)
    except ImportError as error:
        missing = error.name or "a package"
        raise NotInstalled(
            f"{kind.value} needs {missing}; try: pip install 'samsa-core[schemas]'"
        ) from None
    try:
        return make(text, references, Budget())
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None
