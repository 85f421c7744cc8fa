"""The registry: what the log says, replayed record by record."""

from collections.abc import Iterator
from typing import TypeVar

from .contents import Content, Reference, Registered
from .log_records import (
    Change,
    ConfigStored,
    ModeStored,
    SchemaStored,
    SubjectCleared,
    SubjectDeleted,
    Unreadable,
)

V = TypeVar("V")
MOST_BYTES = 64 * 1024 * 1024
"""Of the texts of all schemas, which are in memory."""
MOST_VERSIONS = 200_000


class SchemaState:
    def __init__(self) -> None:
        self.subjects: dict[str, dict[int, Registered]] = {}
        """Every version that is not deleted permanently, by subject."""
        self.levels: dict[str | None, str] = {}
        """Compatibility levels; None: of all subjects without one of their own."""
        self.normalized: dict[str | None, bool] = {}
        self.modes: dict[str | None, str] = {}
        self.greatest_id = 0
        self.text_bytes = 0
        self.count = 0
        self._by_id: dict[int, Content] = {}
        self._ids: dict[bytes, int] = {}
        """By the digest of the content."""
        self._places: dict[int, dict[tuple[str, int], None]] = {}
        """The versions that have an id."""
        self._referrers: dict[tuple[str, int], dict[tuple[str, int], None]] = {}
        """The versions whose schemas refer to a version."""

    def apply(self, change: Change) -> None:
        """Raises Unreadable: the change cannot be, and is left out."""
        match change:
            case SchemaStored(subject, version, None):
                self._forget(subject, version)
            case SchemaStored(_, _, Registered() as stored):
                self._store(stored)
            case ConfigStored(subject, level, normalize):
                _set(self.levels, subject, level)
                _set(self.normalized, subject, normalize)
            case ModeStored(subject, mode):
                _set(self.modes, subject, mode)
            case SubjectDeleted(subject, up_to):
                self._delete(subject, up_to)
            case SubjectCleared(subject):
                for version in list(self.subjects.get(subject, ())):
                    self._forget(subject, version)

    def _store(self, stored: Registered) -> None:
        known = self._by_id.get(stored.id)
        if known is not None and known != stored.content:
            raise Unreadable(f"id {stored.id} is that of another schema")
        if known is None and self.has_no_room(len(stored.content.text)):
            raise Unreadable("the registry is full")
        self._forget(stored.subject, stored.version)
        place = stored.subject, stored.version
        self.subjects.setdefault(stored.subject, {})[stored.version] = stored
        self.count += 1
        self.greatest_id = max(self.greatest_id, stored.id)
        if stored.id not in self._by_id:
            self._by_id[stored.id] = stored.content
            self._ids.setdefault(stored.content.digest(), stored.id)
            self.text_bytes += len(stored.content.text)
        self._places.setdefault(stored.id, {})[place] = None
        for each in stored.content.references:
            self._referrers.setdefault((each.subject, each.version), {})[place] = None

    def _forget(self, subject: str, version: int) -> None:
        gone = self.subjects.get(subject, {}).pop(version, None)
        if gone is None:
            return
        self.count -= 1
        if not self.subjects[subject]:
            del self.subjects[subject]
        place = subject, version
        for each in gone.content.references:
            referrers = self._referrers.get((each.subject, each.version), {})
            referrers.pop(place, None)
            if not referrers:
                self._referrers.pop((each.subject, each.version), None)
        self._places[gone.id].pop(place)
        if not self._places[gone.id]:
            del self._places[gone.id], self._by_id[gone.id]
            self.text_bytes -= len(gone.content.text)
            if self._ids.get(gone.content.digest()) == gone.id:
                del self._ids[gone.content.digest()]

    def _delete(self, subject: str, up_to: int) -> None:
        versions = self.subjects.get(subject, {})
        for version, stored in versions.items():
            if version <= up_to:
                versions[version] = stored._replace(deleted=True)

    def has_no_room(self, size: int) -> bool:
        return self.count >= MOST_VERSIONS or self.text_bytes + size > MOST_BYTES

    def versions(self, subject: str, deleted: bool = False) -> list[Registered]:
        """In their order. `deleted`: with those that are soft deleted."""
        found = self.subjects.get(subject, {})
        return [found[n] for n in sorted(found) if deleted or not found[n].deleted]

    def schema(self, schema_id: int) -> Content | None:
        return self._by_id.get(schema_id)

    def id_of(self, content: Content) -> int | None:
        return self._ids.get(content.digest())

    def with_id(self, schema_id: int, deleted: bool = False) -> list[Registered]:
        """The versions that have this id."""
        found = [self.subjects[s][v] for s, v in sorted(self._places.get(schema_id, ()))]
        return [each for each in found if deleted or not each.deleted]

    def referrers(self, subject: str, version: int) -> list[int]:
        """The ids of the schemas that refer to a version and are not deleted."""
        places = self._referrers.get((subject, version), ())
        found = (self.subjects[s][v] for s, v in places)
        return sorted({each.id for each in found if not each.deleted})

    def referred(self, reference: Reference) -> Content | None:
        """What a reference leads to. It may be soft deleted since; version -1 is the latest."""
        if reference.version == -1:
            versions = self.versions(reference.subject)
            return versions[-1].content if versions else None
        found = self.subjects.get(reference.subject, {}).get(reference.version)
        return found.content if found else None

    def everything(self, deleted: bool = False) -> Iterator[Registered]:
        for subject in sorted(self.subjects):
            yield from self.versions(subject, deleted)


def _set(where: dict[str | None, V], subject: str | None, value: V | None) -> None:
    if value is None:
        where.pop(subject, None)
    else:
        where[subject] = value
