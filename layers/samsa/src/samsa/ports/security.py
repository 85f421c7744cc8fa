"""The store of what access control goes by: ACLs, SCRAM credentials and quotas.

To the store each of them is an entry: a kind, a name that is unique in its kind, and a text. All
entries together have one version. Every change counts it up, so a reader asks for the version, and
for the entries only when that has moved.

A change is made after a version: of two admins who change something at the same time, one is
refused, and changes what the other has left. So totals hold, and no change is lost.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol


class SecurityKind(StrEnum):
    ACL = "A"
    QUOTA = "Q"
    CREDENTIAL = "S"


class SecurityEntry(NamedTuple):
    kind: SecurityKind
    name: str
    value: str = ""


class SecurityState(NamedTuple):
    version: int
    """0: nothing was ever stored."""
    entries: Sequence[SecurityEntry]
    """As of this version, or newer: a change may come while they are read."""


class SecurityChange(NamedTuple):
    """At most `MOST_CHANGED_AT_ONCE` entries, each in one of the two and named once."""

    id: str
    """A fresh word for each change: by it a change is known whose answer was lost."""
    put: Sequence[SecurityEntry] = ()
    """New ones, and those that replace one of the same name."""
    removed: Sequence[SecurityEntry] = ()
    """Their values do not matter. Removing one that is not there is no error."""


class SecurityStore(Protocol):
    """Entries of access control, beside the groups in the same DynamoDB or SQLite."""

    async def security_version(self) -> int:
        """Of all entries together. One small read."""
        ...

    async def security(self) -> SecurityState:
        """All entries."""
        ...

    async def change_security(self, change: SecurityChange, after: int) -> bool:
        """Make the change, all of it, if the version is `after`: then it is one more. False if it
        is another one. Repeating a change that was made answers True, unless another one came
        after it. Raises ItemTooLarge."""
        ...
