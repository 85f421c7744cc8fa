"""A broker without a server: its handlers, on stores and a clock that the test holds."""

from itertools import count
from typing import Any

from server.talk import NOW

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.journal import HeadJournal
from samsa.broker.answer_rows import row_of
from samsa.broker.broker import Broker, Rules
from samsa.dispatch import answer
from samsa.groups import GroupSettings
from samsa.local.object_journal import ObjectJournal
from samsa.local.sqlite import SqliteLedger
from samsa.local.wakeups import LocalWakeups
from samsa.log.stores import Limits, Stores
from samsa.ports import Groups, Journal, Ledger, Objects
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_request, request_frame

ADDRESS = ("127.0.0.1", 9092)
SIZE = 4
nonces = count()


class TurnedClock:
    """It stands still until it is turned on by hand."""

    def __init__(self) -> None:
        self._now_ms = NOW

    def now_ms(self) -> int:
        return self._now_ms

    def turn(self, ms: int) -> None:
        self._now_ms += ms


def nonce() -> str:
    return f"n{next(nonces)}"


def a_broker(
    ledger: Ledger,
    objects: Objects,
    clock: TurnedClock,
    groups: Groups | None = None,
    **limits: int,
) -> Broker:
    wakeups = LocalWakeups(f"127.0.0.1|{next(nonces)}")
    if isinstance(ledger, DynamoLedger):
        journal: Journal = HeadJournal(ledger, objects, nonce, clock)
    else:
        assert isinstance(ledger, SqliteLedger)
        journal = ObjectJournal(ledger, objects, nonce)
    stores = Stores(ledger, objects, journal, clock, wakeups, nonce, Limits(**limits))
    rules = Rules(groups=GroupSettings(initial_rebalance_delay_ms=0))
    return Broker(stores, "cluster", rules, groups=groups)


async def ask(broker: Broker, key: ApiKey, version: int, row: Any) -> Any:
    """From the bytes of a request to the row of its answer."""
    frame = memoryview(bytearray(request_frame(APIS[key], version, 1, "inside", row)))
    async with row_of(await answer(read_request(frame[SIZE:]), ADDRESS, broker)) as row:
        return row
