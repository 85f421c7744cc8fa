"""The audit log: one line for each decision that matters, by a logger of its own, `samsa.audit`.

Lines name principal, address, what was asked for, and the outcome; never a password, a token or a
record. Clients can cause refusals as fast as they like. So of those a second has a limited number
of lines, and the same refusal has one line a minute. What was left out is counted.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from samsa.access.view import AdminChange
from samsa.bounded import Bounded, short_key
from samsa.runtime.logs import event
from samsa.security.access import Question
from samsa.security.authorizer import Decision

log = logging.getLogger("samsa.audit")
REFUSALS_A_SECOND = 50
AGAIN_S = 60.0
REMEMBERED = 10_000
LONGEST = 200
"""Characters of a name that a client chose, in a line."""


class Audit:
    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self.logins = 0
        self.refused_logins = 0
        self.refused_operations = 0
        self._now_s = now_s
        self._second = 0
        self._lines = 0
        self._left_out = 0
        self._refusals: Bounded[Question, tuple[float, int]] = Bounded(REMEMBERED)

    def logged_in(self, **who: Any) -> None:
        """principal, address, listener, mechanism."""
        self.logins += 1
        event(log, logging.INFO, "login", **_shortened(who))

    def refused_login(self, why: str, **who: Any) -> None:
        """address, listener, mechanism."""
        self.refused_logins += 1
        self._limited(logging.WARNING, "login refused", **who, why=why)

    def decided(self, question: Question, decision: Decision | None) -> None:
        """An operation that was refused (`OnDecision`)."""
        self.refused_operations += 1
        now, key = self._now_s(), question._replace(name=short_key(question.name))
        told_at, times = self._refusals.use(key) or (-AGAIN_S, 0)
        if now - told_at < AGAIN_S:
            self._refusals.keep(key, (told_at, times + 1))
            return
        self._refusals.keep(key, (now, 0))
        self._limited(
            logging.WARNING,
            "operation refused",
            principal=question.principal,
            address=question.host,
            operation=question.operation.name,
            resource=f"{question.resource_type.name}:{question.name}",
            why=decision or "no such resource is allowed",
            **({"before": times} if times else {}),
        )

    def changed(self, **what: Any) -> None:
        """principal, address, action, resource, outcome."""
        event(log, logging.INFO, "change", **_shortened(what))

    def refused_change(self, **what: Any) -> None:
        """The same, of what was not changed."""
        self._limited(logging.INFO, "change", **what)

    def administered(self, change: AdminChange) -> None:
        """ACLs, credentials or quotas were changed (`SecurityView.on_change`)."""
        self.changed(
            principal=change.principal,
            address=change.host.removeprefix("/"),
            action=change.action,
            resource=change.subject,
            outcome="none",
        )

    def _limited(self, level: int, name: str, **fields: Any) -> None:
        second = int(self._now_s())
        if second != self._second:
            self._second, self._lines = second, 0
        if self._lines >= REFUSALS_A_SECOND:
            self._left_out += 1
            return
        self._lines += 1
        if self._left_out:
            fields["left_out"], self._left_out = self._left_out, 0
        event(log, level, name, **_shortened(fields))


def _shortened(fields: dict[str, Any]) -> dict[str, str]:
    texts = {name: str(value) for name, value in fields.items()}
    return {name: it if len(it) <= LONGEST else it[:LONGEST] + "…" for name, it in texts.items()}
