"""Admins' requests to a broker without a server, by principals with and without rights."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from faults.inside import TurnedClock, a_broker
from unit.handlers.transacting import Flaky

from samsa.access.rules import SecurityRules
from samsa.access.view import AdminChange, SecurityView
from samsa.broker.broker import HANDLERS, Context
from samsa.local.memory import MemoryObjects
from samsa.local.sqlite import SqliteLedger
from samsa.local.sqlite_groups import SqliteGroups
from samsa.security.principals import Principal
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.messages import create_acls

ADDRESS = ("127.0.0.1", 9092)
BOSS, MALLORY = Principal("User", "boss"), Principal("User", "mallory")
TOPIC, GROUP, CLUSTER = 2, 3, 4
LITERAL, PREFIXED = 3, 4
ALL, READ, WRITE, ALTER, DESCRIBE = 2, 3, 4, 7, 8
DENY, ALLOW = 2, 3


class Office:
    """A broker with ACLs, and its super user."""

    def __init__(self, folder: Path, has_acls: bool = True, **limits: int) -> None:
        path = str(folder / "ledger.db")
        ledger = SqliteLedger(path)
        self.store = Flaky(SqliteGroups(path))
        self.told: list[AdminChange] = []
        words = count()
        self.broker = a_broker(ledger, MemoryObjects(), TurnedClock(), self.store)
        self.broker.rules = replace(self.broker.rules, **limits)
        self.broker.access = SecurityView(
            self.store,
            self.broker.stores.clock,
            lambda: f"w{next(words)}",
            SecurityRules(has_acls, frozenset({str(BOSS)})),
            on_change=self.told.append,
        )

    async def ask(self, key: ApiKey, row: Any, who: Principal = BOSS, version: int = -1) -> Any:
        """From the bytes of a request to the bytes of its answer, and back to rows."""
        api = APIS[key]
        number = api.versions[version]
        asked = api.request.decode(number, _joined(api.request.encode(number, row)))
        access = self.broker.access_for(who, "10.0.0.1")
        context = Context(number, "admin", ADDRESS, "/10.0.0.1", access=access)
        answered = await HANDLERS[key](asked, context, self.broker)
        return api.response.decode(number, _joined(api.response.encode(number, answered)))

    async def allow(self, *creations: Any, who: Principal = BOSS) -> list[Any]:
        row = create_acls.REQUEST(creations=list(creations))
        return (await self.ask(ApiKey.CREATE_ACLS, row, who)).results


def _joined(segments: Any) -> memoryview:
    return memoryview(b"".join(bytes(segment) for segment in segments))


def creation(name: str = "orders", principal: str = "User:alice", **changed: Any) -> Any:
    given = {
        "resource_type": TOPIC,
        "resource_pattern_type": LITERAL,
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return create_acls.CREATION(resource_name=name, principal=principal, **given | changed)


def codes(results: list[Any]) -> list[int]:
    return [result.error_code for result in results]
