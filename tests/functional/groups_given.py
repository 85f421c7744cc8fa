"""The stores of groups, one for each ledger, and what their tests speak of."""

from pathlib import Path

import pytest
from functional.conftest import open_ledger

from samsa.ports import Committed, Groups

NOW = 1_700_000_000_000


def committed(offset: int, metadata: str = "", at: int = NOW, expires_at: int = 0) -> Committed:
    return Committed(offset, 0, metadata, at, expires_at)


async def open_groups(kind: str, folder: Path, request: pytest.FixtureRequest) -> Groups:
    if kind == "sqlite":
        from samsa.local.sqlite_groups import SqliteGroups

        return SqliteGroups(str(folder / "ledger.db"))
    if kind == "in-memory":
        from samsa.local.memory_ledger import MemoryGroups
        from samsa.local.memory_room import MemoryRoom

        return MemoryGroups(MemoryRoom())
    from samsa.aws.dynamodb_groups import DynamoGroups

    ledger = await open_ledger(kind, folder, request)
    request.getfixturevalue("closing").append(ledger)
    return DynamoGroups(ledger.table)  # type: ignore[attr-defined]
