"""The quota of partitions that a client creates and deletes (`controller_mutation_rate`).

A request of a version that knows THROTTLING_QUOTA_EXCEEDED is refused what comes after the quota
was used up; one topic may use more than is left. Older versions are refused nothing. Both are told
how long to be silent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from samsa.wire.errors import ErrorCode

from .configs import Refused

if TYPE_CHECKING:
    from samsa.broker.broker import Context

EXCEEDED = "The throttling quota has been exceeded."


class Mutations:
    """Those of one request. `strict_since` is the version that knows the error."""

    def __init__(self, context: Context, strict_since: int) -> None:
        self._throttle = context.throttle
        self._is_strict = context.version >= strict_since
        self._refused_ms = 0

    def check(self) -> None:
        """Before a topic is changed. Raises Refused."""
        if self._throttle is None or not self._is_strict:
            return
        wait_ms = self._throttle.mutation_throttle_ms
        if wait_ms:
            self._refused_ms = wait_ms
            raise Refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED, EXCEEDED)

    def count(self, partitions: int) -> None:
        """After a topic was changed."""
        if self._throttle is not None:
            self._throttle.record_mutation(partitions)

    @property
    def throttle_ms(self) -> int:
        """For the answer. A strict client that was refused nothing need not wait."""
        if self._throttle is None or self._is_strict:
            return self._refused_ms
        return self._throttle.mutation_throttle_ms
