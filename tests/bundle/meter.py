"""What AWS would charge for, counted where it leaves us."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bundle.given_gateway import Cluster

from samsa.aws.table import Table
from samsa.cost.acts import Act
from samsa.envelope import Gather, Range, Ticket, decode
from samsa.gateway import Gateway
from samsa.ports import Objects

READING = ("GetItem", "Query")
WRITING = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems")


class Meter:
    """DynamoDB says itself how many units it took. What the shim puts and gets by URLs is seen in
    the answers that it is given."""

    def __init__(self) -> None:
        self._objects: list[Objects] = []
        self._pushes: list[Any] = []
        self._seen: Counter[str] = Counter()

    def stores(self, table: Table, objects: Objects) -> None:
        self._objects.append(objects)
        client = table._client
        plain = client.send

        async def send(operation: str, parameters: Any) -> Any:
            if operation not in READING + WRITING:
                return await plain(operation, parameters)  # about the table, not in it
            asked = {**parameters, "ReturnConsumedCapacity": "TOTAL"}
            answer = await plain(operation, asked)
            kind = "reads" if operation in READING else "writes"
            used = answer["ConsumedCapacity"]
            for each in used if isinstance(used, list) else [used]:
                self._seen[kind] += each["CapacityUnits"]
            return answer

        client.send = send  # type: ignore[method-assign]

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
            self._seen["gets"] += sum(isinstance(piece, Range) for piece in answer.pieces)

    def read(self) -> Act:
        seen = self._seen
        calls = sum((Counter(each.calls) for each in self._objects), Counter[str]())
        return Act(
            seen["reads"],
            seen["writes"],
            seen["puts"] + calls["put"],
            seen["gets"] + calls["get"],
            calls["list"],
            seen["messages"] + len(self._pushes),
            seen["invocations"],
        )

    @contextmanager
    def measuring(self) -> Iterator["Spent"]:
        before, spent = self.read(), Spent()
        yield spent
        spent.act = self.read().plus(before.times(-1))


class Spent:
    act: Act
