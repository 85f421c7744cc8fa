"""Conditions: of writes, and of the filters of queries.

condition = and { OR and }      and = not { AND not }      not = [NOT] test
test = ( condition ) | function | operand [= <> < <= > >=] operand | operand BETWEEN … AND …
"""

from collections.abc import Callable
from functools import lru_cache

from .attributes import Attribute, find, is_before, is_equal, kind_of, length_of, plain
from .refusals import invalid
from .tokens import Scope, Words

Condition = Callable[[Scope], bool]
Operand = Callable[[Scope], Attribute | None]

COMPARE: dict[str, Callable[[Attribute | None, Attribute | None], bool]] = {
    "=": is_equal,
    "<>": lambda a, b: not is_equal(a, b),
    "<": is_before,
    ">": lambda a, b: is_before(b, a),
    "<=": lambda a, b: is_before(a, b) or is_equal(a, b),
    ">=": lambda a, b: is_before(b, a) or is_equal(a, b),
}


@lru_cache(1_000)
def condition(text: str) -> Condition:
    """Raises Refused."""
    words = Words(text)
    found = _any_of(words)
    if words.peek():
        raise invalid(f"Syntax error near {words.peek()!r}")
    return found


def _any_of(words: Words) -> Condition:
    parts = [_all_of(words)]
    while words.takes("OR"):
        parts.append(_all_of(words))
    return parts[0] if len(parts) == 1 else lambda scope: any(_each(parts, scope))


def _all_of(words: Words) -> Condition:
    parts = [_not(words)]
    while words.takes("AND"):
        parts.append(_not(words))
    return parts[0] if len(parts) == 1 else lambda scope: all(_each(parts, scope))


def _each(parts: list[Condition], scope: Scope) -> list[bool]:
    """All are evaluated, so that names that are not defined are always refused."""
    return [part(scope) for part in parts]


def _not(words: Words) -> Condition:
    if words.takes("NOT"):
        inner = _not(words)
        return lambda scope: not inner(scope)
    return _test(words)


def _test(words: Words) -> Condition:
    if words.takes("("):
        inner = _any_of(words)
        words.expect(")")
        return inner
    if words.peek(1) == "(" and words.peek() in FUNCTIONS:
        return _function(words)
    left = operand(words)
    if words.takes("BETWEEN"):
        low = operand(words)
        words.expect("AND")
        return _between(left, low, operand(words))
    sign = words.next()
    if sign not in COMPARE:
        raise invalid(f"Syntax error near {sign!r}: no comparison")
    right, compare = operand(words), COMPARE[sign]
    return lambda scope: compare(left(scope), right(scope))


def _between(left: Operand, low: Operand, high: Operand) -> Condition:
    def holds(scope: Scope) -> bool:
        value, first, last = left(scope), low(scope), high(scope)
        return COMPARE[">="](value, first) and COMPARE["<="](value, last)

    return holds


def _function(words: Words) -> Condition:
    holds = FUNCTIONS[words.next()]
    words.expect("(")
    path = words.path()
    other: Operand = lambda _: None  # noqa: E731
    if holds in (_begins_with, _contains):
        words.expect(",")
        other = operand(words)
    words.expect(")")
    return lambda scope: holds(find(scope.item, scope.path(path)), other(scope))


def _begins_with(found: Attribute | None, start: Attribute | None) -> bool:
    if found is None or start is None or kind_of(found) != kind_of(start):
        return False
    return kind_of(found) in ("S", "B") and bool(plain(found).startswith(plain(start)))


def _contains(found: Attribute | None, part: Attribute | None) -> bool:
    if found is None or part is None:
        return False
    kind, value = kind_of(found), plain(part)
    if kind == "L":
        return any(is_equal(one, part) for one in found["L"])
    if kind == "SS":
        return kind_of(part) == "S" and part["S"] in found["SS"]
    return kind == kind_of(part) and kind in ("S", "B") and value in plain(found)


FUNCTIONS: dict[str, Callable[[Attribute | None, Attribute | None], bool]] = {
    "attribute_exists": lambda found, _: found is not None,
    "attribute_not_exists": lambda found, _: found is None,
    "begins_with": _begins_with,
    "contains": _contains,
}


def operand(words: Words) -> Operand:
    """A value, `size(path)`, or what is at a path."""
    if words.peek().startswith(":"):
        name = words.next()
        return lambda scope: scope.value(name)
    is_size = words.peek() == "size" and words.peek(1) == "("
    if is_size:
        words.next()
        words.next()
    path = words.path()
    if is_size:
        words.expect(")")
        return lambda scope: length_of(find(scope.item, scope.path(path)))
    return lambda scope: find(scope.item, scope.path(path))
