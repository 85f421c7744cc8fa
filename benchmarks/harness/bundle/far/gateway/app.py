"""The gateway function, with stores that are far away: a put takes 25 ms longer, a ledger call 5.

The waiting is done in here, before each call, so that it takes nothing of the machine.

With SAMSA_FAR_LEDGER, a file, the log's ledger is SQLite there instead of DynamoDB Local, which is
busy for longer with one item the more calls want it at once; DynamoDB is not.
"""

import asyncio
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samsa.aws.http import Answer, Http
from samsa.aws.s3 import S3Objects
from samsa.gateway import assembly
from samsa.local.sqlite import SqliteLedger
from samsa.log.stores import Stores

REAL = Path(__file__).parents[5] / "functions" / "gateway" / "app.py"
PUT_S, LEDGER_S = 0.025, 0.005
REQUESTS = {"confirm": 2}
"""Of the calls that are more than one request to DynamoDB."""
put, ask = S3Objects.put_if_absent, Http.ask


async def far_put(self: S3Objects, key: str, parts: Sequence[Any]) -> bool:
    await asyncio.sleep(PUT_S)
    return await put(self, key, parts)


async def far_ask(self: Http, request: bytes) -> Answer:
    await asyncio.sleep(LEDGER_S)
    return await ask(self, request)


class FarLedger:
    def __init__(self, ledger: SqliteLedger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._ledger, name)
        if not asyncio.iscoroutinefunction(call):
            return call

        async def far(*given: Any, **named: Any) -> Any:
            await asyncio.sleep(LEDGER_S * REQUESTS.get(name, 1))
            return await call(*given, **named)

        return far


def on_sqlite(_: Any, *others: Any) -> Stores:
    return Stores(FarLedger(SqliteLedger(os.environ["SAMSA_FAR_LEDGER"])), *others)  # type: ignore[arg-type]


S3Objects.put_if_absent, Http.ask = far_put, far_ask
if "SAMSA_FAR_LEDGER" in os.environ:
    assembly.Stores = on_sqlite  # type: ignore[assignment, misc]
spec = importlib.util.spec_from_file_location("real_app", REAL)
assert spec is not None
assert spec.loader is not None
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
handler = app.handler
