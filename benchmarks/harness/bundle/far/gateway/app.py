"""The gateway function, with stores that are far away: a put takes 25 ms longer, a ledger call 5.

The waiting is done in here, before each call, so that it takes nothing of the machine.

With SAMSA_FAR_LEDGER, a file, the log's ledger is SQLite there instead of DynamoDB Local, which is
busy for longer with one item the more calls want it at once; DynamoDB is not. Each append is an
object then, however small it is.
"""

import asyncio
import importlib.util
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samsa.aws.client import DynamoClient
from samsa.aws.s3 import S3Objects
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.log.stores import Stores
from samsa_websocket.gateway import assembly

REAL = Path(__file__).parents[5] / "functions" / "gateway" / "app.py"
PUT_S, LEDGER_S = 0.025, 0.005
KNOWN = ("sweeps",)
"""What a head of DynamoDB would have said already."""
put, ask = S3Objects.put_if_absent, DynamoClient._try


async def far_put(self: S3Objects, key: str, parts: Sequence[Any]) -> bool:
    await asyncio.sleep(PUT_S)
    return await put(self, key, parts)


async def far_ask(self: DynamoClient, operation: str, body: bytes) -> Any:
    await asyncio.sleep(LEDGER_S)
    return await ask(self, operation, body)


class FarLedger:
    def __init__(self, ledger: SqliteLedger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._ledger, name)
        if name in KNOWN or not asyncio.iscoroutinefunction(call):
            return call

        async def far(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(LEDGER_S)
            return await call(*given, **named)

        return far


def on_sqlite(_ledger: Any, objects: Any, _journal: Any, *others: Any) -> Stores:
    ledger: Any = FarLedger(SqliteLedger(os.environ["SAMSA_FAR_LEDGER"]))
    return Stores(ledger, objects, ObjectJournal(ledger, objects, fresh), *others)


def fresh() -> str:
    return secrets.token_hex(8)


S3Objects.put_if_absent, DynamoClient._try = far_put, far_ask  # type: ignore[method-assign]
if "SAMSA_FAR_LEDGER" in os.environ:
    assembly.Stores = on_sqlite  # type: ignore[assignment, misc]
spec = importlib.util.spec_from_file_location("real_app", REAL)
assert spec is not None
assert spec.loader is not None
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
handler = app.handler
