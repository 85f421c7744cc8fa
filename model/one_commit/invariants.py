"""What must be true of the stores after every step."""

from __future__ import annotations

from one_commit.consumer import misread
from one_commit.store import Store, Value


class Broken(Exception):
    """An invariant does not hold."""


def check(store: Store) -> Store:
    """The store, with what readers have seen of it by now. Raises Broken."""
    values = _values(store)
    _each_record_once_and_in_order(values)
    for value, base in store.acknowledged:
        if values.get(base) != value:
            raise Broken(f"{value} was acknowledged at {base}, which holds {values.get(base)}")
    _committed_and_nothing_else(store, values)
    return _seen(store, values)


def check_at_rest(store: Store) -> None:
    """When no process can take a step. Raises Broken."""
    if store.open is not None:
        raise Broken("the stable end is stuck")
    if store.transaction.is_decided:
        raise Broken("a decided transaction is never finished")
    decided = dict(store.decided)
    for value, base in store.acknowledged:
        committed = value[0] == "transaction" and decided.get(value[1]) == "commit"
        if committed and base >= store.stable_end:
            raise Broken(f"{value} was committed and cannot be read")


def _values(store: Store) -> dict[int, Value]:
    values: dict[int, Value] = {}
    for entry in store.entries:
        if values.setdefault(entry.base, entry.value) != entry.value:
            raise Broken(f"offset {entry.base} has two values")
        if entry.in_object and entry.id not in store.objects:
            raise Broken(f"offset {entry.base} is in the log, its object {entry.id} is swept")
    for base in range(store.next):
        if base not in values:
            raise Broken(f"offset {base} has no value")
    return values


def _each_record_once_and_in_order(values: dict[int, Value]) -> None:
    once = [value for value in values.values() if value[0] != "marker"]
    if len(once) != len(set(once)):
        raise Broken(f"a record is in the log twice: {values}")
    numbers = [value[1] for _, value in sorted(values.items()) if value[0] == "idempotent"]
    if numbers != sorted(numbers):
        raise Broken(f"out of order: {values}")


def _seen(store: Store, values: dict[int, Value]) -> Store:
    read = dict(store.read)
    for base in range(store.stable_end):
        if read.setdefault(base, values[base]) != values[base]:
            raise Broken(f"offset {base} changed")
    if len(read) == len(store.read):
        return store
    return store._replace(read=tuple(sorted(read.items())))


def _committed_and_nothing_else(store: Store, values: dict[int, Value]) -> None:
    """For a consumer that reads committed data from any offset on."""
    aborted = store.aborted_before + store.aborted
    if fault := misread(store.stable_end, values, aborted, dict(store.decided)):
        raise Broken(fault)
