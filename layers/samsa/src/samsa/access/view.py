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
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from samsa.ports import (
    Clock,
    SecurityChange,
    SecurityEntry,
    SecurityState,
    SecurityStore,
    Unavailable,
    has_passed,
)
from samsa.ports.bounds import MOST_CHANGED_AT_ONCE, raise_if_large_entry
from samsa.security.access import Access, Limited, OnDecision
from samsa.security.authorizer import Authorizer
from samsa.security.principals import Principal

from .contents import NOTHING, Contents, Plan
from .entries import CredentialKey, QuotaEntity
from .named import Named
from .rules import SecurityRules

if TYPE_CHECKING:
    from samsa.security.scram import ScramCredential, ScramMechanism

log = logging.getLogger("samsa.access")
LOOK_EVERY_MS = 1_000
TRIES = 20
"""Of one change, while other admins change something at the same time."""
LONG = 500
"""More entries than this are read in a thread: that takes milliseconds."""
R = TypeVar("R")


class SecurityView:
    """`on_decision` is told of what `access_for` decides, for the audit; set it before."""

    def __init__(
        self,
        store: SecurityStore,
        clock: Clock,
        fresh_word: Callable[[], str],
        rules: SecurityRules | None = None,
        on_decision: OnDecision | None = None,
    ) -> None:
        self.rules = rules or SecurityRules()
        self.on_decision = on_decision
        self.contents: Contents = NOTHING
        self.is_known = False
        """Whether the store has answered since the start."""
        self._store = store
        self._clock = clock
        self._fresh_word = fresh_word
        self._turn = asyncio.Lock()
        self._looked_at: int | None = None
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
    def quotas(self) -> Mapping[QuotaEntity, Mapping[str, float]]:
        """The values of each entity. The same object for as long as nothing changes."""
        return self.contents.quotas

    def access_for(self, principal: Principal, host: str) -> Access:
        """`host` is the client's address, as ACLs name it: without a slash or a port."""
        if not self.has_acls:
            return Named(principal)
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

    def _is_fresh(self) -> bool:
        looked_at = self._looked_at
        if looked_at is None:
            return False
        return not has_passed(self._clock.now_ms(), looked_at, LOOK_EVERY_MS)

    def _failed(self, error: Exception) -> None:
        if not self._is_failing:
            kept = "what is known" if self.is_known else "nothing but super users"
            log.error("ACLs, credentials and quotas cannot be read: %s stays: %s", kept, error)
        self._is_failing = True

    async def current(self) -> Contents:
        """As they are in the store now, for admins. Raises Unavailable."""
        async with self._turn:
            return await self._read()

    async def _read(self) -> Contents:
        if self.is_known and await self._store.security_version() == self.contents.version:
            return self.contents
        state = await self._store.security()
        return await self._take(NOTHING, state)

    async def _take(
        self, before: Contents, state: SecurityState, removed: list[SecurityEntry] | None = None
    ) -> Contents:
        """Put into force what the store has. Raises Unavailable."""
        try:
            contents, authorizer = await self._made(before, state, removed or [])
        except (ValueError, TypeError, KeyError) as error:
            raise Unavailable(f"an entry that this version cannot read: {error!r}") from error
        self.contents, self._authorizer, self.is_known = contents, authorizer, True
        return contents

    async def _made(
        self, before: Contents, state: SecurityState, removed: list[SecurityEntry]
    ) -> tuple[Contents, Authorizer]:
        def make() -> tuple[Contents, Authorizer]:
            contents = before.after(state.version, state.entries, removed)
            if self.is_known and contents.acls == self.contents.acls:
                return contents, self._authorizer
            rules = self.rules
            return contents, Authorizer(contents.acls, rules.super_users, rules.allow_if_no_acl)

        is_long = max(len(state.entries), len(before.acls)) > LONG
        return await asyncio.to_thread(make) if is_long else make()

    async def change(self, plan: Callable[[Contents], Plan[R]]) -> R:
        """Make a change that follows from the present contents. If another admin comes between, it
        is planned again. A long change is made in parts, each of them whole.

        Raises Unavailable (then it may have been made, in part) and ItemTooLarge."""
        async with self._turn:
            for _ in range(TRIES):
                planned = plan(await self._read())
                for entry in planned.put:
                    raise_if_large_entry(entry)
                if await self._make(planned):
                    return planned.result
            raise Unavailable("other admins change ACLs, users or quotas all the time")

    async def _make(self, planned: Plan[R]) -> bool:
        """False if another admin came before the first part. A later part then goes on after what
        that admin did: parts do not depend on each other."""
        parts = list(_parts(planned))
        for number, (put, removed) in enumerate(parts):
            for _ in range(TRIES):
                if await self._make_part(put, removed):
                    break
                if number == 0:
                    return False
                await self._read()
            else:
                raise Unavailable("other admins change ACLs, users or quotas all the time")
        return True

    async def _make_part(self, put: list[SecurityEntry], removed: list[SecurityEntry]) -> bool:
        version = self.contents.version
        change = SecurityChange(self._fresh_word(), put, removed)
        if not await self._store.change_security(change, version):
            return False
        await self._take(self.contents, SecurityState(version + 1, put), removed)
        return True


def _parts(planned: Plan[R]) -> list[tuple[list[SecurityEntry], list[SecurityEntry]]]:
    """A change in parts that a store takes at once."""
    every = [(entry, True) for entry in planned.put]
    every += [(entry, False) for entry in planned.removed]
    some = [
        every[at : at + MOST_CHANGED_AT_ONCE] for at in range(0, len(every), MOST_CHANGED_AT_ONCE)
    ]
    return [
        ([entry for entry, is_put in part if is_put], [e for e, is_put in part if not is_put])
        for part in some
    ]
