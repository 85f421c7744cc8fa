"""The current ACLs, credentials and quotas, in memory.

The store is asked for its version once a second, by a task in a process and by requests in a
function; entries are read again when the version has moved. So a change is in force everywhere
within two seconds, and at once in the process that made it.

While the store does not answer, what was read last stays in force. Before anything was read, only
super users may do anything, and there are no credentials.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from samsa.ports import (
    Clock,
    SecurityChange,
    SecurityEntry,
    SecurityState,
    SecurityStore,
    Unavailable,
    has_passed,
)
from samsa.ports.bounds import MOST_CHANGED_AT_ONCE
from samsa.security.access import Access, Limited, OnDecision
from samsa.security.authorizer import Authorizer
from samsa.security.principals import Principal
from samsa.security.quotas import Quotas, QuotaTable

from .contents import NOTHING, ChangePlan, Contents
from .entries import CredentialKey
from .named import NamedClient
from .rules import SecurityRules

if TYPE_CHECKING:
    from samsa.security.scram import ScramCredential, ScramMechanism

log = logging.getLogger("samsa.access")
LOOK_EVERY_MS = 1_000
OLDEST_IN_FUNCTION_MS = 10_000
TRIES = 20
"""Tries of one change, while other admins change something at the same time."""
LONG = 500
"""More entries than this are read in a thread: that takes milliseconds."""
MOST_MESSAGE = 300
R = TypeVar("R")


class ChangePart(NamedTuple):
    put: list[SecurityEntry]
    removed: list[SecurityEntry]


class AdminChange(NamedTuple):
    """For the audit."""

    principal: Principal
    host: str
    action: str
    subject: str


class SecurityView:
    """`on_decision` is called with decisions about clients of `access_for`, and `on_change` with
    changes by admins. Both are for the audit, and set before the first request."""

    def __init__(
        self,
        store: SecurityStore,
        clock: Clock,
        fresh_word: Callable[[], str],
        rules: SecurityRules | None = None,
        on_decision: OnDecision | None = None,
        on_change: Callable[[AdminChange], None] | None = None,
    ) -> None:
        self.rules = rules or SecurityRules()
        self.on_decision = on_decision
        self.on_change = on_change
        self.on_quotas: Callable[[], None] | None = None
        """Called after quotas have changed, here or elsewhere."""
        self.contents: Contents = NOTHING
        self.quota_table = QuotaTable({})
        """The same object for as long as no quota changes."""
        self.is_known = False
        """Whether the store has answered since the start."""
        self._store = store
        self._clock = clock
        self._fresh_word = fresh_word
        self._turn = asyncio.Lock()
        """Held while the store is read, or while a change is put into force without reading."""
        self._changing = asyncio.Lock()
        """Held during a change, so that changes of this process do not compete with each other."""
        self._looked_at: int | None = None
        self._read_at: int | None = None
        """When the store answered last."""
        self._is_failing = False
        self._authorizer = Authorizer((), self.rules.super_users, allow_if_no_acl=False)

    @property
    def has_acls(self) -> bool:
        """Whether requests are checked."""
        return self.rules.has_acls

    @property
    def authorizer(self) -> Authorizer:
        """The same object for as long as no ACL changes."""
        return self._authorizer

    def credential(self, mechanism: ScramMechanism, user: str) -> ScramCredential | None:
        return self.contents.credentials.get(CredentialKey(user, mechanism))

    @property
    def quotas(self) -> Quotas:
        """The values of each entity. The same object for as long as nothing changes."""
        return self.contents.quotas

    def access_for(self, principal: Principal, host: str) -> Access:
        """`host` is the client's address, as ACLs name it: without a slash or a port."""
        if not self.has_acls:
            return NamedClient(principal)
        return Limited(principal, host, lambda: self._authorizer, self.on_decision)

    async def keep_fresh(self) -> None:
        """Refresh for as long as the process runs."""
        while True:
            await self.refresh()
            await asyncio.sleep(LOOK_EVERY_MS / 1000)

    async def refresh(self) -> None:
        """Read what has changed, unless that was looked at a second ago. If the store does not
        answer, what is known stays."""
        if self._is_fresh():
            return
        async with self._turn:
            if self._is_fresh():
                return
            self._looked_at = self._clock.now_ms()
            try:
                await self._read()
            except Unavailable as error:
                self._failed(error)
            else:
                self._is_failing = False

    async def refresh_in_function(self) -> None:
        """The same in a process that may have been frozen for hours since it read them: it goes by
        no old ones. Raises Unavailable if they cannot be read."""
        await self.refresh()
        if not self._is_within(self._read_at, OLDEST_IN_FUNCTION_MS):
            raise Unavailable("the ACLs cannot be read")

    def _is_fresh(self) -> bool:
        return self._is_within(self._looked_at, LOOK_EVERY_MS)

    def _is_within(self, at: int | None, length_ms: int) -> bool:
        return at is not None and not has_passed(self._clock.now_ms(), at, length_ms)

    def _failed(self, error: Exception) -> None:
        if not self._is_failing:
            kept = "what is known" if self.is_known else "nothing but super users"
            log.warning("ACLs, credentials and quotas cannot be read: %s stays: %s", kept, error)
        self._is_failing = True

    async def current(self) -> Contents:
        """As they are in the store now, for admins. Raises Unavailable."""
        async with self._turn:
            return await self._read()

    async def _read(self) -> Contents:
        asked_at = self._clock.now_ms()
        contents = await self._read_if_changed()
        self._read_at = asked_at
        return contents

    async def _read_if_changed(self) -> Contents:
        if self.is_known and await self._store.security_version() == self.contents.version:
            return self.contents
        try:
            return await self._take(NOTHING, await self._store.security())
        except Unavailable:
            raise
        except Exception as error:  # an entry may be wrong in any way
            problem = f"there is an entry that this version cannot read: {error!r}"
            raise Unavailable(problem[:MOST_MESSAGE]) from error

    async def _take(
        self, before: Contents, state: SecurityState, removed: list[SecurityEntry] | None = None
    ) -> Contents:
        """Put into force what the store has."""
        contents, authorizer, table = await self._made(before, state, removed or [])
        has_new_quotas = table is not self.quota_table
        self.contents, self._authorizer, self.is_known = contents, authorizer, True
        self.quota_table = table
        if has_new_quotas and self.on_quotas is not None:
            self.on_quotas()
        return contents

    async def _made(
        self, before: Contents, state: SecurityState, removed: list[SecurityEntry]
    ) -> tuple[Contents, Authorizer, QuotaTable]:
        def make() -> tuple[Contents, Authorizer, QuotaTable]:
            contents = before.after(state.version, state.entries, removed)
            table = self.quota_table
            if contents.quota_values != self.contents.quota_values:
                table = QuotaTable(contents.quotas)
            if self.is_known and contents.acls == self.contents.acls:
                return contents, self._authorizer, table
            rules = self.rules
            made = Authorizer(contents.acls, rules.super_users, rules.allow_if_no_acl)
            return contents, made, table

        is_long = max(len(state.entries), len(before.acls), len(before.quota_values)) > LONG
        return await asyncio.to_thread(make) if is_long else make()

    async def change(self, plan: Callable[[Contents], Awaitable[ChangePlan[R]]]) -> R:
        """Make a change that follows from the present contents. If another change comes between, it
        is planned again. A long change is made in parts, each of them whole.

        Raises Unavailable (then it may have been made, in part) and ItemTooLarge."""
        async with self._changing:
            for _ in range(TRIES):
                contents = await self.current()
                planned = await plan(contents)
                if await self._make(_parts(planned), contents.version):
                    return planned.result
        raise Unavailable("other admins change ACLs, users or quotas all the time")

    async def _make(self, parts: list[ChangePart], version: int) -> bool:
        """False if another change came before the first part. The other parts are stored even if
        changes come between: parts do not depend on each other."""
        if len(parts) == 1:
            return await self._make_alone(parts[0], version)
        for number, part in enumerate(parts):
            if not await self._store_part(part, version):
                if number == 0:
                    return False
                version = await self._store_later(part)
            version += 1
        if parts:
            await self.current()
        return True

    async def _make_alone(self, part: ChangePart, version: int) -> bool:
        """What it changes is known here without reading all of it again."""
        async with self._turn:
            if self.contents.version != version or not await self._store_part(part, version):
                return False
            await self._take(self.contents, SecurityState(version + 1, part.put), part.removed)
        return True

    async def _store_later(self, part: ChangePart) -> int:
        """The version after which the part was stored."""
        for _ in range(TRIES):
            version = await self._store.security_version()
            if await self._store_part(part, version):
                return version
        raise Unavailable("other admins change ACLs, users or quotas all the time")

    async def _store_part(self, part: ChangePart, version: int) -> bool:
        change = SecurityChange(self._fresh_word(), part.put, part.removed)
        return await self._store.change_security(change, version)


def _parts(planned: ChangePlan[R]) -> list[ChangePart]:
    """As much at a time as a store takes at once."""
    every = [(entry, True) for entry in planned.put]
    every += [(entry, False) for entry in planned.removed]
    parts = []
    for start in range(0, len(every), MOST_CHANGED_AT_ONCE):
        some = every[start : start + MOST_CHANGED_AT_ONCE]
        parts.append(
            ChangePart(
                [one for one, is_put in some if is_put], [one for one, is_put in some if not is_put]
            )
        )
    return parts
