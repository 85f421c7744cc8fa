"""How often a value may be looked at: few definitions that name one another can ask for a billion.

The weight of a schema is how many schemas are asked about one value and one of those within it, one
within that, and so on. Of alternatives for the same value all are asked; of properties and items
only one is about the same part of the value.
"""

from collections.abc import Iterator
from typing import Any

from .budget import Budget
from .errors import TooComplex
from .json_documents import Documents, Place

HEAVIEST = 20_000
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_MAPS_HERE = ("dependentSchemas", "dependencies")
_MAPS_WITHIN = ("properties", "patternProperties")
_WITHIN = (
    "additionalProperties", "unevaluatedProperties", "propertyNames", "items", "additionalItems",
    "unevaluatedItems", "contains", "prefixItems",
)  # fmt: skip


def weight(documents: Documents, budget: Budget) -> int:
    """Raises TooComplex."""
    found = _Weights(documents, budget).of(documents.root)
    if found > HEAVIEST:
        raise TooComplex("its parts refer to one another too often")
    return found


class _Weights:
    def __init__(self, documents: Documents, budget: Budget) -> None:
        self._documents = documents
        self._budget = budget
        self._known: dict[int, int] = {}

    def of(self, place: Place) -> int:
        place = self._documents.followed(place)
        key = id(place.schema)
        if not isinstance(place.schema, dict):
            return 1
        if key not in self._known:
            self._budget.spend()
            self._known[key] = 1  # where it is met within itself: the library remembers answers
            here = sum(map(self.of, _here(place)))
            within = max(map(self.of, _within(place)), default=0)
            self._known[key] = min(1 + here + within, HEAVIEST + 1)
        return self._known[key]


def _here(place: Place) -> Iterator[Place]:
    """The schemas that are about the same value."""
    schema = place.schema
    for name in _LISTS:
        yield from _each(place, schema.get(name))
    for name in _SINGLE:
        if name in schema:
            yield place.child(schema[name])
    for name in _MAPS_HERE:
        yield from _each(place, schema.get(name))


def _within(place: Place) -> Iterator[Place]:
    schema = place.schema
    for name in _MAPS_WITHIN:
        yield from _each(place, schema.get(name))
    for name in _WITHIN:
        inner = schema.get(name)
        if isinstance(inner, list):
            yield from _each(place, inner)
        elif isinstance(inner, dict):
            yield place.child(inner)


def _each(place: Place, inner: Any) -> Iterator[Place]:
    values = inner.values() if isinstance(inner, dict) else inner
    if isinstance(inner, dict | list):
        for each in values:
            if isinstance(each, dict):
                yield place.child(each)
