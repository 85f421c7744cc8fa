"""The one text of an Avro schema: attributes in the order of Java's library, and no spaces."""

from collections.abc import Collection
from typing import Any

from .avro_types import NOTHING, PRIMITIVES, AvroField, AvroType
from .json_texts import told


def canonical(root: AvroType, known: Collection[str] = ()) -> str:
    """As Java's library writes the schema. Types that are `known` are named only."""
    return told(_Writer(known, in_full=False).json(root, ""), in_order=False)


def normalized(root: AvroType, known: Collection[str] = ()) -> str:
    """The same, with names in full and attributes that are not Avro's own sorted."""
    return told(_Writer(known, in_full=True).json(root, ""), in_order=False)


class _Writer:
    def __init__(self, known: Collection[str], in_full: bool) -> None:
        self._in_full = in_full
        self._written = set(known)

    def json(self, kind: AvroType, space: str) -> Any:
        if kind.kind in PRIMITIVES:
            return {"type": kind.kind, **self._props(kind)} if kind.props else kind.kind
        if kind.kind == "union":
            return [self.json(each, space) for each in kind.branches]
        if kind.items is not None:
            inner = "items" if kind.kind == "array" else "values"
            return {"type": kind.kind, inner: self.json(kind.items, space), **self._props(kind)}
        return self._named(kind, space)

    def _named(self, kind: AvroType, space: str) -> Any:
        own, _, simple = kind.name.rpartition(".")
        if kind.name in self._written:
            return simple if own == space and not self._in_full else kind.name
        self._written.add(kind.name)
        found: dict[str, Any] = {"type": kind.kind}
        if self._in_full:
            found["name"] = kind.name
        else:
            found["name"] = simple
            if own != space:
                found["namespace"] = own
        if kind.doc is not None:
            found["doc"] = kind.doc
        if kind.kind == "record":
            found["fields"] = [self._field(each, own) for each in kind.fields]
        elif kind.kind == "enum":
            found["symbols"] = list(kind.symbols)
            if kind.default is not None:
                found["default"] = kind.default
        else:
            found["size"] = kind.size
        found |= self._props(kind)
        if kind.aliases:
            found["aliases"] = list(kind.aliases)
        return found

    def _field(self, each: AvroField, space: str) -> dict[str, Any]:
        found: dict[str, Any] = {"name": each.name, "type": self.json(each.type, space)}
        if each.doc is not None:
            found["doc"] = each.doc
        if each.default is not NOTHING:
            found["default"] = each.default
        if each.order != "ascending":
            found["order"] = each.order
        if each.aliases:
            found["aliases"] = list(each.aliases)
        return found | self._props(each)

    def _props(self, each: AvroType | AvroField) -> dict[str, Any]:
        return dict(sorted(each.props.items())) if self._in_full else each.props
