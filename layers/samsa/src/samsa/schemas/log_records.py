"""The records of the topic `_schemas`, in the form that Confluent's registry gave them.

A key is JSON with a `keytype`. Its fields have an order: for compaction, keys are the same if their
bytes are.

| key | value |
|---|---|
| SCHEMA: subject, version | the schema; null once it is deleted permanently |
| CONFIG: subject, or null for all | the compatibility level; null: none of its own |
| MODE: subject, or null for all | the mode; null: none of its own |
| DELETE_SUBJECT: subject | up to which version the subject is soft deleted |
| CLEAR_SUBJECT: subject | all that is known of the subject is forgotten |
| NOOP | nothing |
"""

import json
from typing import Any, NamedTuple

from .contents import Content, Reference, Registered, SchemaKind

LONGEST_SUBJECT = 10_000
LARGEST = 2**31 - 1
MOST_REFERENCES = 1_000


class Unreadable(ValueError):
    """Not a record of a registry. It is skipped."""


class LogRecord(NamedTuple):
    key: bytes
    value: bytes | None


class SchemaStored(NamedTuple):
    """None: the version is deleted permanently."""

    subject: str
    version: int
    stored: Registered | None


class ConfigStored(NamedTuple):
    subject: str | None
    level: str | None
    normalize: bool | None


class ModeStored(NamedTuple):
    subject: str | None
    mode: str | None


class SubjectDeleted(NamedTuple):
    subject: str
    up_to: int


class SubjectCleared(NamedTuple):
    subject: str


Change = SchemaStored | ConfigStored | ModeStored | SubjectDeleted | SubjectCleared


def of_schema(stored: Registered) -> LogRecord:
    content = stored.content
    value: dict[str, Any] = {"subject": stored.subject, "version": stored.version, "id": stored.id}
    if content.kind is not SchemaKind.AVRO:
        value["schemaType"] = content.kind.value
    if content.references:
        value["references"] = [each._asdict() for each in content.references]
    value |= {"schema": content.text, "deleted": stored.deleted}
    return LogRecord(schema_key(stored.subject, stored.version), _json(value))


def schema_key(subject: str, version: int) -> bytes:
    return _json({"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1})


def of_permanent_deletion(subject: str, version: int) -> LogRecord:
    return LogRecord(schema_key(subject, version), None)


def of_deletion(subject: str, up_to: int) -> LogRecord:
    key = {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}
    return LogRecord(_json(key), _json({"subject": subject, "version": up_to}))


def of_config(subject: str | None, level: str | None, normalize: bool | None) -> LogRecord:
    value: dict[str, Any] = {} if subject is None else {"subject": subject}
    if level is not None:
        value["compatibilityLevel"] = level
    if normalize is not None:
        value["normalize"] = normalize
    is_set = level is not None or normalize is not None
    key = {"keytype": "CONFIG", "subject": subject, "magic": 0}
    return LogRecord(_json(key), _json(value) if is_set else None)


def of_mode(subject: str | None, mode: str | None) -> LogRecord:
    value: dict[str, Any] = {} if subject is None else {"subject": subject}
    key = {"keytype": "MODE", "subject": subject, "magic": 0}
    return LogRecord(_json(key), None if mode is None else _json({**value, "mode": mode}))


def read(key: bytes | None, value: bytes | None) -> Change | None:
    """What a record changes; None for one that changes nothing. Raises Unreadable."""
    told = _object(key, "key")
    kind = told.get("keytype")
    if kind == "NOOP":
        return None
    subject = told.get("subject")
    if subject is None and kind in ("CONFIG", "MODE"):
        return _setting(kind, None, value)
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT:
        raise Unreadable("its key names no subject")
    if kind == "SCHEMA":
        return _schema(subject, _whole(told.get("version"), "version"), value)
    if kind == "DELETE_SUBJECT":
        return SubjectDeleted(subject, _deleted_to(value))
    if kind == "CLEAR_SUBJECT":
        return SubjectCleared(subject)
    if kind in ("CONFIG", "MODE"):
        return _setting(kind, subject, value)
    raise Unreadable("its key is of no known type")


def _deleted_to(value: bytes | None) -> int:
    """0, which is no version, where compaction has left a key without a value."""
    return 0 if value is None else _whole(_object(value, "value").get("version"), "version")


def _setting(kind: str, subject: str | None, value: bytes | None) -> Change:
    told = {} if value is None else _object(value, "value")
    if kind == "MODE":
        return ModeStored(subject, _text_or_none(told, "mode"))
    normalize = told.get("normalize")
    if normalize is not None and not isinstance(normalize, bool):
        raise Unreadable("normalize is not a boolean")
    return ConfigStored(subject, _text_or_none(told, "compatibilityLevel"), normalize)


def _schema(subject: str, version: int, value: bytes | None) -> SchemaStored:
    if value is None:
        return SchemaStored(subject, version, None)
    told = _object(value, "value")
    text, deleted = told.get("schema"), told.get("deleted", False)
    if not isinstance(text, str) or not isinstance(deleted, bool):
        raise Unreadable("its value holds no schema")
    try:
        kind = SchemaKind(told.get("schemaType") or SchemaKind.AVRO)
    except ValueError:
        raise Unreadable("its schema is of no known type") from None
    content = Content(kind, text, _references(told.get("references") or ()))
    stored = Registered(subject, version, _whole(told.get("id"), "id"), content, deleted)
    return SchemaStored(subject, version, stored)


def _references(given: Any) -> tuple[Reference, ...]:
    if not isinstance(given, list | tuple) or len(given) > MOST_REFERENCES:
        raise Unreadable("its references are no list, or too many")
    return tuple(_reference(each) for each in given)


def _reference(given: Any) -> Reference:
    if not isinstance(given, dict):
        raise Unreadable("a reference is no object")
    name, subject = given.get("name"), given.get("subject")
    if not isinstance(name, str) or not isinstance(subject, str):
        raise Unreadable("a reference has no name, or no subject")
    return Reference(name, subject, _whole(given.get("version"), "version"))


def _object(data: bytes | None, what: str) -> dict[str, Any]:
    try:
        told = json.loads(data or b"")
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise Unreadable(f"its {what} is no JSON object")
    return told


def _whole(given: Any, what: str) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not 0 < given <= LARGEST:
        raise Unreadable(f"its {what} is no number from 1 to {LARGEST}")
    return given


def _text_or_none(told: dict[str, Any], name: str) -> str | None:
    found = told.get(name)
    if found is not None and not isinstance(found, str):
        raise Unreadable(f"{name} is no text")
    return found


def _json(value: dict[str, Any]) -> bytes:
    """As UTF-8, like Java; escaped, if it has half of a surrogate pair, which is no character."""
    told = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    try:
        return told.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
