"""What AWS would charge for, counted where it leaves us."""

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from bundle.given_gateway import Cluster

from samsa.aws.errors import ConditionFailed
from samsa.aws.table import Table
from samsa.ports import Objects
from samsa_broker.cost.acts import Act
from samsa_websocket.envelope import Gather, Ticket, UrlRange, decode
from samsa_websocket.gateway import Gateway

READING = ("GetItem", "Query")
WRITING = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")
KB = 1024


class Meter:
    """DynamoDB says itself how many units it took. What the shim puts and gets by URLs is seen in
    the answers that it is given."""

    def __init__(self) -> None:
        self._objects: list[Objects] = []
        self._pushes: list[Any] = []
        self._seen: Counter[str] = Counter()
        self.head_units: list[float] = []
        """Of each update of a head that held."""
        self.index_units: list[float] = []
        """Of each entry that was put into an index."""

    def stores(self, table: Table, objects: Objects) -> None:
        self._objects.append(objects)
        client = table._client
        plain = client.send

        async def send(operation: str, parameters: Any, repeatable: bool = True) -> Any:
            if operation not in READING + WRITING:
                return await plain(operation, parameters)  # about the table, not in it
            asked = {**parameters, "ReturnConsumedCapacity": "TOTAL"}
            try:
                answer = await plain(operation, asked, repeatable)
            except ConditionFailed as failed:
                self._refused(parameters, failed)
                raise
            used = answer["ConsumedCapacity"]
            units = sum(u["CapacityUnits"] for u in (used if isinstance(used, list) else [used]))
            self._count(operation, parameters, units)
            return answer

        client.send = send  # type: ignore[method-assign]

    def _count(self, operation: str, parameters: Any, units: float) -> None:
        kind = _kind(parameters)
        if operation == "TransactWriteItems":
            self._transaction(parameters["TransactItems"])
        elif operation == "BatchWriteItem":
            deleted = [d for each in parameters["RequestItems"].values() for d in each]
            assert all(_is_entry(d["DeleteRequest"]["Key"]) for d in deleted)
            self._seen["index_writes"] += len(deleted)
        elif operation == "Query":
            self._seen["reads"] += units
        elif kind == "HEAD":
            self._seen["head_reads" if operation in READING else "head_writes"] += 1
            if operation in WRITING:
                self.head_units.append(units)
        elif kind == "E":
            assert operation == "PutItem"
            self._seen["index_writes"] += 1
            self.index_units.append(units)
        else:
            self._seen["reads" if operation in READING else "writes"] += units

    def _transaction(self, parts: list[Any]) -> None:
        """Each write of it costs twice as much: AWS says so, DynamoDB Local meters otherwise."""
        for part in parts:
            ((kind, what),) = part.items()
            if _kind(what) == "HEAD":
                self._seen["head_writes"] += 2
            else:
                size = size_of({"M": what["Item"]}) if kind == "Put" else 1
                self._seen["writes"] += 2 * ceil(size / KB)

    def _refused(self, parameters: Any, failed: ConditionFailed) -> None:
        """It costs as much as if it had been done."""
        kind = _kind(parameters)
        if kind == "HEAD":
            self._seen["head_writes"] += 1
        elif kind == "E":
            self._seen["index_writes"] += 1
        else:
            self._seen["writes"] += ceil(size_of({"M": failed.old or {}}) / KB) or 1

    def gateway(self, cluster: Cluster, gateway: Gateway) -> None:
        self.stores(gateway._parts.ledger.table, gateway._parts.objects)
        self._pushes = cluster.pushes.sent
        plain = gateway.handle

        def handle(event: Any, context: Any = None) -> Any:
            answer = plain(event, context)
            self._seen["invocations"] += 1
            if event["requestContext"]["routeKey"] == "$default":
                self._seen["messages"] += 2
                self._by_url(decode(answer["body"]))
            return answer

        gateway.handle = handle  # type: ignore[method-assign]

    def _by_url(self, answer: Any) -> None:
        self._seen["puts"] += isinstance(answer, Ticket)
        if isinstance(answer, Gather):
            self._seen["gets"] += sum(isinstance(piece, UrlRange) for piece in answer.pieces)

    def read(self) -> Act:
        seen = self._seen
        calls = sum((Counter(each.calls) for each in self._objects), Counter[str]())
        return Act(
            reads=seen["reads"],
            writes=seen["writes"],
            head_reads=seen["head_reads"],
            head_writes=seen["head_writes"],
            index_writes=seen["index_writes"],
            puts=seen["puts"] + calls["put"],
            gets=seen["gets"] + calls["get"],
            lists=calls["list"],
            messages=seen["messages"] + len(self._pushes),
            invocations=seen["invocations"],
        )

    @contextmanager
    def measuring(self) -> Iterator["Spent"]:
        before, spent = self.read(), Spent()
        yield spent
        spent.act = self.read().plus(before.times(-1))


class Spent:
    act: Act


def _kind(parameters: Any) -> str:
    key = parameters.get("Key") or parameters.get("Item") or {}
    return str(key["sk"]["S"]).partition("#")[0] if key else ""


def size_of(attribute: dict[str, Any]) -> int:
    """Bytes of an attribute, about as DynamoDB counts them: as it is sent, or as it comes back."""
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + sum(1 + len(name) + size_of(one) for name, one in value.items())
    if kind == "L":
        return 3 + sum(1 + size_of(one) for one in value)
    if kind == "N":
        return len(value) // 2 + 2
    if kind == "B" and isinstance(value, str):
        return len(b64decode(value))
    return 1 if kind == "BOOL" else len(value)


def _is_entry(key: Any) -> bool:
    return str(key["sk"]["S"]).startswith("E#")
