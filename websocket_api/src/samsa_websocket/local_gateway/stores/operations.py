"""The operations of DynamoDB that Samsa uses, each as one SQLite transaction.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .attributes import item_bytes
from .capacity import read_units
from .query_page import Page
from .refusals import Item, Refused, invalid
from .table_file import Key, TableFile
from .tokens import Words
from .writes import Writes, key_in, scope_of

MOST_IN_A_BATCH = 25
KEYS = {"pk": "HASH", "sk": "RANGE"}
RANGE = ("pk", "=", ":", "AND", "sk", "BETWEEN", ":", "AND", ":")


class Answer(NamedTuple):
    body: Item
    reads: float = 0.0
    writes: float = 0.0
    """Capacity units."""


class Operations:
    def __init__(self, file: TableFile, now_s: Callable[[], int]) -> None:
        self._file = file
        self._writes = Writes(file, now_s)
        self._known: dict[str, Callable[[Item], Answer]] = {
            "GetItem": self._get,
            "PutItem": self._writes_one("Put"),
            "UpdateItem": self._writes_one("Update"),
            "DeleteItem": self._writes_one("Delete"),
            "Query": self._query,
            "BatchWriteItem": self._batch,
            "TransactWriteItems": self._transact,
            "CreateTable": self._create,
            "DescribeTable": self._describe,
            "DescribeTimeToLive": self._describe_expiry,
            "UpdateTimeToLive": self._expire,
        }

    def run(self, operation: str, asked: Item) -> Answer:
        """Raises Refused; sqlite3.Error."""
        known = self._known.get(operation)
        if known is None:
            raise Refused("UnknownOperationException", f"there is no {operation[:50]!r} here")
        answer = known(asked)
        if asked.get("ReturnConsumedCapacity") == "TOTAL":
            answer.body["ConsumedCapacity"] = _consumed(operation, asked, answer)
        return answer

    # Items

    def _get(self, asked: Item) -> Answer:
        item = self._file.get(self._key(asked))
        units = read_units(item_bytes(item) if item else 0, consistent=_consistent(asked))
        return Answer({"Item": item} if item else {}, reads=units)

    def _writes_one(self, kind: str) -> Callable[[Item], Answer]:
        def write(asked: Item) -> Answer:
            self._table(asked)
            with self._file.transaction():
                done = self._writes.do(kind, asked)
            return Answer(done.told(asked), writes=done.units)

        return write

    def _query(self, asked: Item) -> Answer:
        first, last = _range_of(asked, self._table(asked))
        after = asked.get("ExclusiveStartKey", {}).get("sk", {}).get("S")
        page = Page(asked)
        for item in self._file.between(first, last, after):
            if not page.takes(item):
                break
        units = read_units(page.size, consistent=_consistent(asked))
        return Answer(page.answer(), reads=units)

    def _batch(self, asked: Item) -> Answer:
        writes = [
            (_kind, {"TableName": table, **inside})
            for table, requests in asked["RequestItems"].items()
            for request in requests
            for _kind, inside in _batch_parts(request)
        ]
        if not 0 < len(writes) <= MOST_IN_A_BATCH:
            raise invalid(f"A batch has 1 to {MOST_IN_A_BATCH} writes")
        with self._file.transaction():
            done = [
                self._writes.do(kind, self._of_table(parameters)) for kind, parameters in writes
            ]
        return Answer({"UnprocessedItems": {}}, writes=sum(one.units for one in done))

    def _transact(self, asked: Item) -> Answer:
        for part in asked["TransactItems"]:
            for inside in part.values():
                self._table(inside)
        return Answer({}, writes=self._writes.transact(asked))

    # Tables

    def _create(self, asked: Item) -> Answer:
        name = str(asked.get("TableName", ""))
        keys = {key["AttributeName"]: key["KeyType"] for key in asked["KeySchema"]}
        if keys != KEYS or not 3 <= len(name) <= 255:
            raise invalid("a table here has a name and the keys pk and sk, which are texts")
        if self._file.has_table(name):
            raise Refused("ResourceInUseException", f"Table already exists: {name}")
        self._file.add_table(name)
        return Answer({"TableDescription": {"TableName": name, "TableStatus": "ACTIVE"}})

    def _describe(self, asked: Item) -> Answer:
        name = self._table(asked)
        return Answer({"Table": {"TableName": name, "TableStatus": "ACTIVE"}})

    def _describe_expiry(self, asked: Item) -> Answer:
        self._table(asked)
        told = {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
        return Answer({"TimeToLiveDescription": told})

    def _expire(self, asked: Item) -> Answer:
        self._table(asked)
        raise invalid("TimeToLive is already enabled")

    def _table(self, asked: Item) -> str:
        name = str(asked.get("TableName", ""))
        if not self._file.has_table(name):
            raise Refused("ResourceNotFoundException", "Cannot do operations on a missing table")
        return name

    def _of_table(self, asked: Item) -> Item:
        self._table(asked)
        return asked

    def _key(self, asked: Item) -> Key:
        return key_in(self._table(asked), asked.get("Key"))


def _range_of(asked: Item, table: str) -> tuple[Key, str]:
    """The only form of key condition that is known here: `pk = :pk AND sk BETWEEN :a AND :b`."""
    words, names = Words(str(asked.get("KeyConditionExpression", ""))), []
    for wanted in RANGE:
        word = words.next()
        if wanted == ":" and word.startswith(":"):
            names.append(word)
        elif word.upper() != wanted.upper():
            raise invalid(f"a key condition here is {' '.join(RANGE)}")
    values = scope_of(asked).values
    texts = [_text(values.get(name)) for name in names]
    return Key(table, texts[0], texts[1]), texts[2]


def _text(attribute: Any) -> str:
    if not isinstance(attribute, dict) or not isinstance(attribute.get("S"), str):
        raise invalid("a key is a text")
    return str(attribute["S"])


def _batch_parts(request: Item) -> Iterator[tuple[str, Item]]:
    for name, inside in request.items():
        kind = {"PutRequest": "Put", "DeleteRequest": "Delete"}.get(name)
        if kind is None:
            raise invalid(f"a batch has no {name[:30]}")
        yield kind, inside


def _consistent(asked: Item) -> bool:
    return bool(asked.get("ConsistentRead", False))


def _consumed(operation: str, asked: Item, answer: Answer) -> Any:
    total = {"TableName": asked.get("TableName", ""), "CapacityUnits": answer.reads + answer.writes}
    return [total] if operation in ("BatchWriteItem", "TransactWriteItems") else total
