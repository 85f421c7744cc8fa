"""Puts, updates, deletes, and transactions of them, each on its condition."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .attributes import checked, item_bytes
from .capacity import OF_A_TRANSACTION, write_units
from .conditions import condition
from .refusals import Item, Refused, cancelled, condition_failed, invalid
from .table_file import Key, TableFile
from .tokens import Scope
from .updates import updated

LARGEST_ITEM = 400 * 1024
MOST_PARTS = 100
KEYS = ("pk", "sk")
LONGEST_PK, LONGEST_SK = 2048, 1024
TOKENS_KEPT_S = 600
FAILED = "ConditionalCheckFailed"


class Done(NamedTuple):
    before: Item | None
    after: Item | None
    units: float

    def told(self, asked: Item) -> Item:
        """What a single write answers."""
        wanted = asked.get("ReturnValues", "NONE")
        if wanted == "ALL_OLD":
            return {"Attributes": self.before} if self.before else {}
        if wanted in ("ALL_NEW", "UPDATED_NEW"):
            return {"Attributes": self.after or {}}
        return {}


class Writes:
    """Called inside of a transaction of the file."""

    def __init__(self, file: TableFile, now_s: Callable[[], int]) -> None:
        self._file = file
        self._now_s = now_s

    def do(self, kind: str, asked: Item) -> Done:
        """Raises Refused; then nothing was changed."""
        scope, key = scope_of(asked), key_of(kind, asked)
        before = self._file.get(key)
        scope.item = before or {}
        holds = "ConditionExpression" not in asked or condition(asked["ConditionExpression"])(scope)
        if not holds:
            shown = asked.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"
            raise condition_failed(before if shown else None)
        after = _after(kind, asked, scope, before)
        _refuse_unused(scope)
        if after is not None and item_bytes(after) > LARGEST_ITEM:
            raise invalid("Item size has exceeded the maximum allowed size")
        self._store(kind, key, after)
        return Done(before, after, write_units(before, after))

    def _store(self, kind: str, key: Key, after: Item | None) -> None:
        if kind == "ConditionCheck":
            return
        if after is None:
            self._file.delete(key)
        else:
            self._file.put(key, after)

    def transact(self, asked: Item) -> float:
        """All parts or none. Returns the capacity units. Raises Refused."""
        parts = [(kind, inside) for part in asked["TransactItems"] for kind, inside in part.items()]
        _refuse_odd(parts)
        token = str(asked.get("ClientRequestToken") or "")
        with self._file.transaction():
            if token and self._file.was_done(token, self._now_s(), TOKENS_KEPT_S):
                return 0.0
            return OF_A_TRANSACTION * self._do_all(parts)

    def _do_all(self, parts: list[tuple[str, Item]]) -> float:
        reasons, units = [], 0.0
        for kind, inside in parts:
            try:
                units += self.do(kind, inside).units
                reasons.append("None")
            except Refused as refused:
                if refused.code != "ConditionalCheckFailedException":
                    raise
                reasons.append(FAILED)
        if FAILED in reasons:
            raise cancelled(reasons)
        return units


def _after(kind: str, asked: Item, scope: Scope, before: Item | None) -> Item | None:
    if kind == "Put":
        return {name: checked(value) for name, value in asked["Item"].items()}
    if kind == "Delete":
        return None
    if kind == "ConditionCheck":
        return before
    scope.item = before or {name: asked["Key"][name] for name in KEYS}
    text = asked.get("UpdateExpression")
    made = updated(scope, text) if text else scope.item
    if any(made.get(name) != asked["Key"][name] for name in KEYS):
        raise invalid("Cannot update attribute pk or sk. This attribute is part of the key")
    return made


def _refuse_odd(parts: list[tuple[str, Item]]) -> None:
    if not 0 < len(parts) <= MOST_PARTS:
        raise invalid(f"A transaction has 1 to {MOST_PARTS} parts")
    unknown = {kind for kind, _ in parts} - {"Put", "Update", "Delete", "ConditionCheck"}
    if unknown:
        raise invalid(f"A transaction has no {min(unknown)[:30]}")
    keys = [key_of(kind, inside) for kind, inside in parts]
    if len(set(keys)) != len(keys):
        raise invalid("Transaction request cannot include multiple operations on one item")


def scope_of(asked: Item) -> Scope:
    names = asked.get("ExpressionAttributeNames") or {}
    values = asked.get("ExpressionAttributeValues") or {}
    return Scope(names, {name: checked(value) for name, value in values.items()})


def _refuse_unused(scope: Scope) -> None:
    """As DynamoDB does: it finds expressions that do not say what they should."""
    unused = (scope.names.keys() | scope.values.keys()) - scope.used
    if unused:
        raise invalid(f"Value provided in expression unused in expressions: {min(unused)}")


def key_of(kind: str, asked: Item) -> Key:
    return key_in(str(asked.get("TableName", "")), asked.get("Item" if kind == "Put" else "Key"))


def key_in(table: str, found: Any) -> Key:
    """Raises Refused."""
    pk, sk = (found.get(name, {}).get("S") if isinstance(found, dict) else None for name in KEYS)
    if not (isinstance(pk, str) and isinstance(sk, str) and pk and sk):
        raise invalid("The provided key element does not match the schema: pk and sk are texts")
    if len(pk.encode()) > LONGEST_PK or len(sk.encode()) > LONGEST_SK:
        raise invalid("A key is too long: pk has 2048 bytes at most, sk 1024")
    return Key(table, pk, sk)
