"""Updates: SET, REMOVE, ADD and DELETE.

As in DynamoDB, right sides are read from the item as it was, and the update is done as a whole or
refused. What it makes is a new item; the old one stays as it is.
"""

import copy
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .attributes import Attribute, Path, find, kind_of, number_of, to_number
from .conditions import operand
from .refusals import Item, invalid
from .tokens import RawPath, Scope, Words

Change = Callable[[Scope], tuple[RawPath, Attribute | None]]
"""A path, and what is there afterwards; None: nothing."""
Value = Callable[[Scope], Attribute]
CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")
BAD_PATH = "The document path provided in the update expression is invalid for update"
NO_VALUE = "The provided expression refers to an attribute that does not exist in the item"


def updated(scope: Scope, text: str) -> Item:
    """Raises Refused."""
    made: Item = copy.deepcopy(scope.item)
    changes = [change(scope) for change in _changes(text)]
    _refuse_overlaps([path for path, _ in changes])
    # What is removed comes last: in a list it moves what is behind it.
    for path, value in sorted(changes, key=lambda change: change[1] is None):
        _place(made, path, value)
    return made


@lru_cache(1_000)
def _changes(text: str) -> list[Change]:
    words, found, seen = Words(text), [], set()
    while words.peek():
        clause = words.next().upper()
        if clause not in CLAUSES or clause in seen:
            raise invalid(f"Syntax error near {clause!r}")
        seen.add(clause)
        found.append(PARTS[clause](words))
        while words.takes(","):
            found.append(PARTS[clause](words))
    if not found:
        raise invalid("The expression can not be empty")
    return found


def _set(words: Words) -> Change:
    path = words.path()
    words.expect("=")
    value = _value(words)
    if words.peek() in ("+", "-"):
        sign, left, right = words.next(), value, _value(words)
        value = _sum(left, right, -1 if sign == "-" else 1)
    return lambda scope: (scope.path(path), value(scope))


def _sum(left: Value, right: Value, sign: int) -> Value:
    def value(scope: Scope) -> Attribute:
        one, other = left(scope), right(scope)
        if kind_of(one) != "N" or kind_of(other) != "N":
            raise invalid("An operand in the update expression has an incorrect data type")
        return to_number(number_of(one) + sign * number_of(other))

    return value


def _value(words: Words) -> Value:
    if words.peek() == "if_not_exists" and words.peek(1) == "(":
        return _if_not_exists(words)
    read = operand(words)

    def value(scope: Scope) -> Attribute:
        found = read(scope)
        if found is None:
            raise invalid(NO_VALUE)
        return found

    return value


def _if_not_exists(words: Words) -> Value:
    words.next()
    words.expect("(")
    path = words.path()
    words.expect(",")
    other = _value(words)
    words.expect(")")

    def value(scope: Scope) -> Attribute:
        found, instead = find(scope.item, scope.path(path)), other(scope)
        return instead if found is None else found

    return value


def _remove(words: Words) -> Change:
    path = words.path()
    return lambda scope: (scope.path(path), None)


def _add(words: Words) -> Change:
    path, more = words.path(), _value(words)

    def change(scope: Scope) -> tuple[RawPath, Attribute]:
        at, value = scope.path(path), more(scope)
        return at, _added(find(scope.item, at), value)

    return change


def _added(there: Attribute | None, more: Attribute) -> Attribute:
    kind = kind_of(more)
    if kind not in ("N", "SS", "NS", "BS") or (there and kind_of(there) != kind):
        raise invalid("An operand in the update expression has an incorrect data type")
    if there is None:
        return more
    if kind == "N":
        return to_number(number_of(there) + number_of(more))
    return {kind: list(dict.fromkeys([*there[kind], *more[kind]]))}


def _delete(words: Words) -> Change:
    path, less = words.path(), _value(words)

    def change(scope: Scope) -> tuple[RawPath, Attribute | None]:
        at, value = scope.path(path), less(scope)
        there, kind = find(scope.item, at), kind_of(value)
        if kind not in ("SS", "NS", "BS") or (there and kind_of(there) != kind):
            raise invalid("An operand in the update expression has an incorrect data type")
        left = [one for one in there[kind] if one not in value[kind]] if there else []
        return at, {kind: left} if left else None

    return change


PARTS: dict[str, Callable[[Words], Change]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}


def _refuse_overlaps(paths: list[RawPath]) -> None:
    known = set(paths)
    starts = {path[:end] for path in known for end in range(1, len(path))}
    if len(known) != len(paths) or known & starts:
        raise invalid("Two document paths overlap with each other")


def _place(item: Item, path: Path, value: Attribute | None) -> None:
    inside: Any = item
    if len(path) > 1:
        parent = find(item, path[:-1])
        inside = None if parent is None else parent.get("L" if isinstance(path[-1], int) else "M")
        if inside is None:
            raise invalid(BAD_PATH)
    last = path[-1]
    if isinstance(last, int):
        _place_in_list(inside, last, value)
    elif value is None:
        inside.pop(last, None)
    else:
        inside[last] = value


def _place_in_list(inside: list[Attribute], at: int, value: Attribute | None) -> None:
    if at >= len(inside):
        inside += [] if value is None else [value]
    elif value is None:
        del inside[at]
    else:
        inside[at] = value
