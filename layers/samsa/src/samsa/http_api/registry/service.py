"""What the registry can be asked: schemas, and their registration and deletion."""

from collections.abc import Iterable
from typing import NamedTuple

from samsa.http_api.kafka_client import InProcessClient
from samsa.schemas import log_records
from samsa.schemas.compatibility import Level, level_of, to_compare
from samsa.schemas.contents import Content, Reference, Registered
from samsa.schemas.log_records import LARGEST, LogRecord
from samsa.schemas.parsing import Schema
from samsa.schemas.state import SchemaState

from .parsed_schemas import ParsedSchemas
from .refusals import (
    RegistryRefusal,
    incompatible,
    invalid_schema,
    is_referred_to,
    no_such_schema,
    no_such_subject,
    no_such_version,
    not_permitted,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_soft_deleted,
    version_soft_deleted,
)
from .schema_log import Plan, SchemaLog

READWRITE, READONLY, IMPORT = MODES = ("READWRITE", "READONLY", "IMPORT")
LATEST = -1
ALL = None
"""The subject of settings that hold for every subject without its own."""


class Draft(NamedTuple):
    """A schema as a client gives it."""

    content: Content
    id: int | None = None
    version: int | None = None
    normalize: bool = False


class Registry:
    def __init__(self, kafka: InProcessClient) -> None:
        self.log = SchemaLog(kafka)
        self.schemas = ParsedSchemas()

    async def by_id(self, schema_id: int) -> Content:
        """What an id means never changes. So only an unknown one is looked for in the log."""
        known = self.log.state.schema(schema_id)
        found = known or (await self.log.caught_up()).schema(schema_id)
        if found is None:
            raise no_such_schema(schema_id)
        return found

    async def known_among(self, ids: Iterable[int]) -> dict[int, Content]:
        """Those that are there, with one look at the log at most."""
        wanted = list(ids)
        state = self.log.state
        if any(state.schema(each) is None for each in wanted):
            state = await self.log.caught_up()
        found = ((each, state.schema(each)) for each in wanted)
        return {schema_id: content for schema_id, content in found if content is not None}

    async def schema_by_id(self, schema_id: int) -> Schema:
        """Parsed. Raises RegistryRefusal, BadSchema, NotInstalled."""
        content = await self.by_id(schema_id)
        return await self.schemas.parsed(content, self.log.state)

    async def prepared(self, draft: Draft, state: SchemaState) -> tuple[Schema, Content]:
        """The schema, and its content as it is registered."""
        given = draft.content._replace(references=_fixed(draft.content.references, state))
        schema = await self.schemas.parsed(given, state)
        return schema, given._replace(text=schema.normalized if draft.normalize else schema.text)

    async def found(self, subject: str, draft: Draft, deleted: bool = False) -> Registered:
        """The version of the subject that has this schema."""
        state = await self.log.caught_up()
        versions = state.versions(subject, deleted)
        if not versions:
            raise no_such_subject(subject)
        draft = draft._replace(normalize=draft.normalize or normalizes(state, subject))
        _, content = await self.prepared(draft, state)
        same = [each for each in versions if each.content == content]
        if not same:
            raise no_such_schema()
        return same[-1]

    async def register(self, subject: str, draft: Draft) -> int:
        """The schema's id."""

        async def planned(state: SchemaState) -> Plan[int]:
            normal = draft.normalize or normalizes(state, subject)
            schema, content = await self.prepared(draft._replace(normalize=normal), state)
            versions = state.versions(subject)
            same = next((each for each in versions if each.content == content), None)
            if same is not None and draft.id in (None, same.id):
                return Plan(same.id)
            _raise_unless_mode_allows(mode_of(state, subject), subject, draft)
            if draft.id is None:
                level = level_for(state, subject)
                older = to_compare(level, versions)
                if problems := await self.schemas.problems(level, schema, older, state):
                    raise incompatible(subject, problems)
            stored = _placed(subject, content, draft, state)
            return Plan(stored.id, [log_records.of_schema(stored)])

        return await self.log.change(planned)

    async def problems(self, subject: str, version: int | None, draft: Draft) -> list[str]:
        """Why the schema does not fit to a version, or to those that the subject's level names."""
        state = await self.log.caught_up()
        schema, _ = await self.prepared(draft, state)
        level = level_for(state, subject)
        versions = state.versions(subject)
        if version is None:
            older = to_compare(level, versions)
        else:
            if not versions:
                raise no_such_subject(subject)
            older = [] if level is Level.NONE else [self.version(state, subject, version)]
        return await self.schemas.problems(level, schema, older, state)

    def version(
        self, state: SchemaState, subject: str, version: int, deleted: bool = False
    ) -> Registered:
        """Raises RegistryRefusal."""
        versions = state.versions(subject, deleted)
        if not versions:
            raise no_such_subject(subject)
        if version == LATEST:
            return versions[-1]
        found = next((each for each in versions if each.version == version), None)
        if found is None:
            raise no_such_version(version)
        return found

    async def delete_subject(self, subject: str, permanent: bool) -> list[int]:
        async def planned(state: SchemaState) -> Plan[list[int]]:
            everything = state.versions(subject, deleted=True)
            if not everything:
                raise no_such_subject(subject)
            alive = state.versions(subject)
            _raise_if_read_only(state, subject)
            if permanent and alive:
                raise subject_not_soft_deleted(subject)
            if not permanent and not alive:
                raise subject_soft_deleted(subject)
            gone = everything if permanent else alive
            for each in gone:
                _raise_if_referred_to(state, each)
            numbers = [each.version for each in gone]
            if permanent:
                records = [log_records.of_permanent_deletion(subject, n) for n in numbers]
            else:
                records = [log_records.of_deletion(subject, numbers[-1])]
                records += _without_settings(state, subject)
            return Plan(numbers, records)

        return await self.log.change(planned)

    async def delete_version(self, subject: str, version: int, permanent: bool) -> int:
        async def planned(state: SchemaState) -> Plan[int]:
            if not state.versions(subject, deleted=True):
                raise no_such_subject(subject)
            found = self.version(state, subject, version, deleted=version != LATEST)
            _raise_if_read_only(state, subject)
            if permanent and not found.deleted:
                raise version_not_soft_deleted(found)
            if not permanent and found.deleted:
                raise version_soft_deleted(found)
            _raise_if_referred_to(state, found)
            if permanent:
                record = log_records.of_permanent_deletion(subject, found.version)
            else:
                record = log_records.of_schema(found._replace(deleted=True))
            return Plan(found.version, [record])

        return await self.log.change(planned)


def registry_of(kafka: InProcessClient) -> Registry:
    """The one of this process."""
    served = kafka.served
    if served.registry is None:
        served.registry = Registry(kafka)
    return served.registry


def level_for(state: SchemaState, subject: str | None) -> Level:
    own = state.levels.get(subject)
    return level_of(own if own is not None else state.levels.get(ALL))


def normalizes(state: SchemaState, subject: str | None) -> bool:
    return state.normalized.get(subject, state.normalized.get(ALL, False))


def mode_of(state: SchemaState, subject: str | None) -> str:
    return state.modes.get(subject) or state.modes.get(ALL) or READWRITE


def _fixed(references: tuple[Reference, ...], state: SchemaState) -> tuple[Reference, ...]:
    """With the number of the latest version where that was asked for."""
    found = []
    for each in references:
        versions = state.versions(each.subject) if each.version == LATEST else []
        found.append(each._replace(version=versions[-1].version) if versions else each)
    return tuple(found)


def _raise_unless_mode_allows(mode: str, subject: str, draft: Draft) -> None:
    if mode == READONLY:
        raise not_permitted(f"Subject {subject} is in read-only mode")
    if mode == IMPORT and draft.id is None:
        raise not_permitted(f"Subject {subject} is in import mode: give an id")
    if mode != IMPORT and draft.id is not None:
        raise not_permitted(f"Subject {subject} is not in import mode")


def _raise_if_read_only(state: SchemaState, subject: str) -> None:
    if mode_of(state, subject) == READONLY:
        raise not_permitted(f"Subject {subject} is in read-only mode")


def _raise_if_referred_to(state: SchemaState, found: Registered) -> None:
    if state.referrers(found.subject, found.version):
        raise is_referred_to(found)


def _placed(subject: str, content: Content, draft: Draft, state: SchemaState) -> Registered:
    """With its id and version. Raises RegistryRefusal."""
    if state.has_no_room(len(content.text)):
        raise RegistryRefusal(42205, "The registry is full: delete schemas permanently")
    versions = state.versions(subject, deleted=True)
    version = draft.version or (versions[-1].version if versions else 0) + 1
    if draft.id is None:
        schema_id = state.id_of(content) or state.greatest_id + 1
    else:
        schema_id = draft.id
        known = state.schema(schema_id)
        if known is not None and known != content:
            raise not_permitted(f"Overwrite new schema with id {schema_id} is not permitted.")
    if any(each.version == version and each.content != content for each in versions):
        raise not_permitted(f"Version {version} of subject {subject} is another schema")
    if not 0 < schema_id <= LARGEST or not 0 < version <= LARGEST:
        raise invalid_schema("there are no more ids")
    return Registered(subject, version, schema_id, content)


def _without_settings(state: SchemaState, subject: str) -> list[LogRecord]:
    """A subject that is deleted loses its own level and mode."""
    found = []
    if subject in state.modes:
        found.append(log_records.of_mode(subject, None))
    if subject in state.levels or subject in state.normalized:
        found.append(log_records.of_config(subject, None, None))
    return found
