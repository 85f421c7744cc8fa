"""Compatibility levels: which versions a new schema is compared with, and in which direction."""

from collections.abc import Sequence
from enum import StrEnum

from .budget import Budget
from .contents import Registered
from .errors import BadSchema
from .parsing import Schema


class Level(StrEnum):
    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        return self.value.endswith("_TRANSITIVE")

    @property
    def is_backward(self) -> bool:
        """The new schema reads what was written with the old one."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def is_forward(self) -> bool:
        """The old schema reads what is written with the new one."""
        return self.value.startswith(("FORWARD", "FULL"))


DEFAULT = Level.BACKWARD
MOST_PROBLEMS = 100


def level_of(given: object) -> Level:
    """What a log says; of another registry's levels that are not known here, the default."""
    try:
        return Level(str(given))
    except ValueError:
        return DEFAULT


def to_compare(level: Level, versions: Sequence[Registered]) -> Sequence[Registered]:
    """Of the versions of a subject, in their order."""
    if level is Level.NONE:
        return ()
    return versions if level.is_transitive else versions[-1:]


def problems(level: Level, new: Schema, old: Schema, budget: Budget) -> list[str]:
    """Why the two do not fit; empty if they do. Raises BadSchema."""
    if new.kind is not old.kind:
        return [f"{{errorType:'SCHEMA_TYPE_CHANGED', description:'it was {old.kind.value}'}}"]
    found: list[str] = []
    try:
        if level.is_backward:
            found += new.unread(old, budget)
        if level.is_forward:
            found += old.unread(new, budget)
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None
    return found[:MOST_PROBLEMS]
