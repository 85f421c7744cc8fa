"""How many groups there may be.

JoinGroup and OffsetCommit ask here before they create a group. Groups are counted on the first
request, and again when the limit seems to be reached: other processes delete groups, and not every
join creates one.
"""

from samsa.ports import Clock, Groups
from samsa.wire.errors import ErrorCode

COUNT_MS = 1_000


class GroupTotals:
    def __init__(self, groups: Groups, clock: Clock, most: int | None) -> None:
        self._groups = groups
        self._clock = clock
        self._most = most
        self._known: set[str] = set()
        self._counted_at: int | None = None
        self.refused = 0

    def knows(self, group_id: str) -> bool:
        """True if the group need not be counted."""
        return self._most is None or group_id in self._known

    async def why_not(self, group_id: str) -> ErrorCode:
        """Why this group may not be created; `knows` was False for it. Raises Unavailable."""
        assert self._most is not None
        now = self._clock.now_ms()
        is_old = self._counted_at is None or not 0 <= now - self._counted_at < COUNT_MS
        if self._counted_at is None or (len(self._known) >= self._most and is_old):
            self._known = set(await self._groups.group_ids())
            self._counted_at = now
        if group_id not in self._known and len(self._known) >= self._most:
            self.refused += 1
            return ErrorCode.POLICY_VIOLATION
        self._known.add(group_id)
        return ErrorCode.NONE
