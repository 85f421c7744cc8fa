"""Avro schemas."""

from collections.abc import Sequence
from typing import Any

from .avro_rules import AvroRules
from .avro_texts import canonical, normalized
from .avro_types import AvroReader
from .avro_values import decoded, encoded
from .budget import VALUE_STEPS, Budget
from .contents import NamedText, SchemaKind


class AvroSchema:
    kind = SchemaKind.AVRO

    def __init__(self, text: str, references: Sequence[NamedText], budget: Budget) -> None:
        """Raises BadSchema."""
        reader = AvroReader(budget)
        for each in references:
            reader.read(each.text)
        self._known = frozenset(reader.names)
        self.root = reader.read(text)
        self.text = canonical(self.root, self._known)

    @property
    def normalized(self) -> str:
        return normalized(self.root, self._known)

    def unread(self, writer: "AvroSchema", budget: Budget) -> list[str]:
        found = AvroRules(budget).problems(self.root, writer.root)
        return [
            f"{{errorType:'{name}', description:'at path {path!r}', additionalInfo:'{about}'}}"
            for name, path, about in found
        ]

    def decode(self, data: bytes, budget: Budget | None = None) -> Any:
        """Raises BadValue."""
        return decoded(self.root, data, budget or Budget(VALUE_STEPS))

    def encode(self, value: Any, budget: Budget) -> bytes:
        """Raises BadValue."""
        return encoded(self.root, value, budget)
