"""What clients with quotas have used, as all functions have counted it, in the ledger's table.

| pk             | sk   | what                                                                  |
|----------------|------|-----------------------------------------------------------------------|
| QUOTA#{digest} | USED | of one quota and those who share it: `w{second}`, a total for each of |
|                |      | the last seconds; of partitions created and deleted `full_at`, when   |
|                |      | (ms) the token bucket is full again                                   |

Clients choose their ids, so the key is a digest. An item has some 14 windows at most, whatever
clocks and idle times do, and expires an hour after its last change.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from samsa.aws.calls import TableCalls, counted
from samsa.aws.errors import ConditionFailed
from samsa.aws.items import Item, key, number
from samsa.ports import Unavailable
from samsa.security.quotas import Limit
from samsa.security.rates import SAMPLES
from samsa.security.shared_rates import AHEAD, LONGEST_DEBT_MS, Windows, full_again_at

LIFE_S = 3600
WINDOW = "w"
MOST_WINDOWS = SAMPLES + AHEAD + 1
TRIES = 5


class QuotaUsage(TableCalls):
    """Over the table of a DynamoLedger, whose client it shares."""

    @counted
    async def add(self, limit: Limit, more: Windows, now_s: int) -> Windows:
        """Add to the totals, and return those of all. It is not sent again if its fate is unknown:
        what is added twice would count twice. Raises Unavailable; NotDone."""
        values: Item = {f":{at}": number(round(total)) for at, total in more.items()}
        adding = ", ".join(f"{WINDOW}{at} :{at}" for at in more)
        answer = await self._update(
            limit,
            f"SET expires = :expires ADD {adding} REMOVE {_names(_just_past(now_s))}",
            {**values, ":expires": number(now_s + LIFE_S)},
            repeatable=False,
        )
        totals = _windows(answer.get("Attributes", {}))
        if len(totals) > MOST_WINDOWS:
            with suppress(Unavailable):  # the next one tries again
                await self._remove_all_but_recent(limit, totals, now_s)
        return totals

    async def _remove_all_but_recent(self, limit: Limit, totals: Windows, now_s: int) -> None:
        """After idle times, or of clocks that were wrong."""
        wrong = [at for at in totals if not now_s - SAMPLES < at <= now_s + AHEAD]
        if wrong:
            await self._update(limit, f"REMOVE {_names(wrong)}")

    @counted
    async def full_at(self, limit: Limit) -> int:
        """When its token bucket is full again, in ms; 0 if it was not used for long."""
        return _full_at(await self.table.get(_key(limit)))

    @counted
    async def take(self, limit: Limit, debt_ms: int, now_ms: int) -> int:
        """Take from the token bucket what it earns in `debt_ms`, by compare-and-swap, and return
        when it is full again. Raises Unavailable."""
        known: Item | None = {}
        for _ in range(TRIES):
            before = _full_at(known)
            after = full_again_at(before, debt_ms, now_ms)
            try:
                await self._swap(limit, before, after)
            except ConditionFailed as failed:
                known = failed.old
            else:
                return after
        raise Unavailable("other functions use the same quota all the time")

    async def _swap(self, limit: Limit, before: int, after: int) -> None:
        """Raises ConditionFailed with the item."""
        values = {":after": number(after), ":expires": number((after + LONGEST_DEBT_MS) // 1000)}
        if before:
            values[":before"] = number(before)
        await self._update(
            limit,
            "SET full_at = :after, expires = :expires",
            values,
            ConditionExpression="full_at = :before" if before else "attribute_not_exists(full_at)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )

    async def _update(
        self,
        limit: Limit,
        expression: str,
        values: Mapping[str, Item] | None = None,
        repeatable: bool = True,
        **more: Any,
    ) -> Item:
        if values:
            more["ExpressionAttributeValues"] = values
        return await self.table.send(
            "update_item",
            repeatable,
            TableName=self.table.name,
            Key=_key(limit),
            UpdateExpression=expression,
            ReturnValues="ALL_NEW",
            **more,
        )


def _just_past(now_s: int) -> Iterable[int]:
    return range(now_s - 2 * SAMPLES, now_s - SAMPLES)


def _names(windows: Iterable[int]) -> str:
    return ", ".join(f"{WINDOW}{at}" for at in windows if at >= 0)


def _windows(item: Item) -> Windows:
    return {
        int(name[1:]): float(value["N"])
        for name, value in item.items()
        if name[:1] == WINDOW and name[1:].isdigit()
    }


def _full_at(item: Item | None) -> int:
    return int(item["full_at"]["N"]) if item and "full_at" in item else 0


def _key(limit: Limit) -> Item:
    """Of the clients that share the limit. A client id may be any text of 32 KB."""
    named = json.dumps([limit.key, limit.user, limit.client_id])
    digest = blake2b(named.encode(), digest_size=24).hexdigest()
    return key(f"QUOTA#{digest}", "USED")
