"""The paths of the registry, and which function answers each.

A subject may have slashes: encoded, as clients send them, or as they are, where a proxy has decoded
them. So what is too long for a path belongs to its subject.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from . import compatibility, schemas, settings, subjects
from .calls import Call

Answer = Callable[[Call], Awaitable[Any]]
SUBJECT = "{subject}"
PATHS: Mapping[str, Mapping[str, Answer]] = {
    "subjects": {"GET": subjects.subjects},
    "subjects/{subject}": {"POST": subjects.look_up, "DELETE": subjects.delete},
    "subjects/{subject}/versions": {"GET": subjects.versions, "POST": subjects.register},
    "subjects/{subject}/versions/{version}": {
        "GET": subjects.version,
        "DELETE": subjects.delete_version,
    },
    "subjects/{subject}/versions/{version}/schema": {"GET": subjects.schema},
    "subjects/{subject}/versions/{version}/referencedby": {"GET": subjects.referenced_by},
    "schemas": {"GET": schemas.everything},
    "schemas/types": {"GET": schemas.types},
    "schemas/ids/{id}": {"GET": schemas.by_id},
    "schemas/ids/{id}/schema": {"GET": schemas.text_by_id},
    "schemas/ids/{id}/subjects": {"GET": schemas.subjects_of},
    "schemas/ids/{id}/versions": {"GET": schemas.versions_of},
    "contexts": {"GET": schemas.contexts},
    "compatibility/subjects/{subject}/versions": {"POST": compatibility.with_subject},
    "compatibility/subjects/{subject}/versions/{version}": {"POST": compatibility.with_version},
    "config": {
        "GET": settings.level,
        "PUT": settings.set_level,
        "DELETE": settings.delete_level,
    },
    "config/{subject}": {
        "GET": settings.level_of_subject,
        "PUT": settings.set_level_of_subject,
        "DELETE": settings.delete_level_of_subject,
    },
    "mode": {"GET": settings.mode, "PUT": settings.set_mode},
    "mode/{subject}": {
        "GET": settings.mode_of_subject,
        "PUT": settings.set_mode_of_subject,
        "DELETE": settings.delete_mode_of_subject,
    },
}


class Found(NamedTuple):
    answers: Mapping[str, Answer]
    """By method."""
    path: Mapping[str, str]


def find(raw_path: str) -> Found | None:
    """The path is as it was sent: not decoded yet."""
    segments = [unquote(each) for each in raw_path.strip("/").split("/")]
    for pattern, answers in _PATTERNS:
        path = _match(pattern, segments)
        if path is not None:
            return Found(answers, path)
    return None


_PATTERNS = sorted(
    ((pattern.split("/"), answers) for pattern, answers in PATHS.items()),
    key=lambda each: -len(each[0]),
)
"""The longest first: what is left over is the subject's."""


def _match(pattern: list[str], segments: list[str]) -> dict[str, str] | None:
    more = len(segments) - len(pattern)
    if more < 0 or (more and SUBJECT not in pattern):
        return None
    if more:
        at = pattern.index(SUBJECT)
        joined = "/".join(segments[at : at + more + 1])
        segments = [*segments[:at], joined, *segments[at + more + 1 :]]
    found = {}
    for wanted, given in zip(pattern, segments, strict=True):
        if wanted.startswith("{"):
            found[wanted.strip("{}")] = given
        elif wanted != given:
            return None
    return found
