"""JSON Schema documents: where a `$ref` leads, within one document and between registered ones."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

from .budget import Budget, raise_if_deep
from .errors import BadSchema
from .json_texts import told

IDENTIFIERS = ("$id", "id")
LONGEST_CHAIN = 100
"""Of references that lead to references."""


class Place(NamedTuple):
    """A schema, and the base URI against which its references are resolved."""

    base: str
    schema: Any

    def child(self, schema: Any) -> "Place":
        return Place(_base_of(self.base, schema), schema)


class Documents:
    """A document and those that it refers to. Nothing is ever fetched."""

    def __init__(self, root: Any, named: Mapping[str, Any], budget: Budget) -> None:
        self._by_uri: dict[str, Place] = {}
        self._named = named
        self.has_references = False
        for name, document in named.items():
            self._index(name, document, budget)
        self.root = self._index("", root, budget)

    @cached_property
    def definitions(self) -> str:
        """What references may lead to, but for the root itself."""
        root = self.root.schema if isinstance(self.root.schema, dict) else {}
        return told([root.get("definitions"), root.get("$defs"), *sorted(self._named.items())])

    def _index(self, uri: str, document: Any, budget: Budget) -> Place:
        root = Place(_base_of(uri, document), document)
        self._by_uri.setdefault(uri, root)
        for place in _walk(root, budget):
            if isinstance(place.schema, dict):
                self._name(place)
                self.has_references |= "$ref" in place.schema
        return root

    def _name(self, place: Place) -> None:
        if any(isinstance(place.schema.get(each), str) for each in IDENTIFIERS):
            self._by_uri.setdefault(place.base.rstrip("#"), place)
        anchor = place.schema.get("$anchor")
        if isinstance(anchor, str):
            self._by_uri.setdefault(f"{_document(place.base)}#{anchor}", place)

    def followed(self, place: Place) -> Place:
        """What the schema's references lead to in the end. Raises BadSchema."""
        for _ in range(LONGEST_CHAIN):
            ref = place.schema.get("$ref") if isinstance(place.schema, dict) else None
            if not isinstance(ref, str):
                return place
            place = self.referred(place.base, ref)
        raise BadSchema(f"{ref!r} leads to itself, or through too many others")

    def referred(self, base: str, ref: str) -> Place:
        """Raises BadSchema."""
        for uri in (ref, urljoin(base, ref) if base else ref):
            found = self._by_uri.get(uri) or self._by_uri.get(uri.rstrip("#"))
            if found is not None:
                return found
            document, _, pointer = uri.partition("#")
            root = self._by_uri.get(document or _document(base)) or self._root_of(document)
            if root is not None and (pointer == "" or pointer.startswith("/")):
                return _at(root, pointer, ref)
        raise BadSchema(
            f"{ref!r} leads to no schema: it is not in the schema, nor in its references"
        )

    def check(self, budget: Budget) -> None:
        """Raises BadSchema if a reference of the document leads nowhere."""
        for place in _walk(self.root, budget):
            if isinstance(place.schema, dict) and isinstance(place.schema.get("$ref"), str):
                self.followed(place)

    def _root_of(self, document: str) -> Place | None:
        return self.root if not document else None


def _base_of(base: str, schema: Any) -> str:
    if isinstance(schema, dict):
        for each in IDENTIFIERS:
            found = schema.get(each)
            if isinstance(found, str) and not found.startswith("#"):
                return urljoin(base, found) if base else found
    return base


def _document(uri: str) -> str:
    return uri.partition("#")[0]


def _at(root: Place, pointer: str, ref: str) -> Place:
    place = root
    for step in pointer.split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        inner = place.schema
        if isinstance(inner, dict) and name in inner:
            place = place.child(inner[name])
        elif isinstance(inner, list) and name.isdecimal() and int(name) < len(inner):
            place = place.child(inner[int(name)])
        else:
            raise BadSchema(f"{ref!r} leads to no schema: there is no {name!r} there")
    return place


def _walk(root: Place, budget: Budget) -> Iterator[Place]:
    """Every object and list within. Raises TooComplex."""
    waiting = [(root, 0)]
    while waiting:
        place, depth = waiting.pop()
        budget.spend()
        raise_if_deep(depth)
        yield place
        inner = place.schema
        children = inner.values() if isinstance(inner, dict) else inner
        if isinstance(inner, dict | list):
            waiting += [
                (place.child(one), depth + 1) for one in children if isinstance(one, dict | list)
            ]
