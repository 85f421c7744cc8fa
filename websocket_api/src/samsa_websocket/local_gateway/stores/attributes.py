"""The values of DynamoDB's items: their sizes, their order, and where paths lead in them."""

from base64 import b64decode
from collections.abc import Sequence
from decimal import Context, Decimal, InvalidOperation
from typing import Any, TypeAlias

from .refusals import Item, invalid

Attribute: TypeAlias = dict[str, Any]
"""One type and its value, as {"N": "17"}."""
Path: TypeAlias = Sequence[str | int]

DIGITS = Context(prec=38)
SETS = ("SS", "NS", "BS")
DEEPEST = 32
"""As DynamoDB: maps and lists inside of one another."""


def number_of(attribute: Attribute) -> Decimal:
    try:
        return DIGITS.create_decimal(attribute["N"])
    except (InvalidOperation, TypeError, ValueError):
        raise invalid("The parameter cannot be converted to a numeric value") from None


def to_number(value: Decimal) -> Attribute:
    return {"N": f"{value.normalize(DIGITS):f}"}


def plain(attribute: Attribute) -> Any:
    """What can be compared with others of the same type."""
    ((kind, value),) = attribute.items()
    if kind == "N":
        return number_of(attribute)
    if kind == "B":
        return b64decode(value)
    if kind == "S":
        return value.encode()  # DynamoDB sorts texts by their bytes
    if kind == "M":
        return {name: (next(iter(one)), plain(one)) for name, one in value.items()}
    if kind == "L":
        return [(next(iter(one)), plain(one)) for one in value]
    return frozenset(value) if kind in SETS else value


def kind_of(attribute: Attribute) -> str:
    return next(iter(attribute))


def is_equal(one: Attribute | None, other: Attribute | None) -> bool:
    if one is None or other is None or kind_of(one) != kind_of(other):
        return False
    return bool(plain(one) == plain(other))


def is_before(one: Attribute | None, other: Attribute | None) -> bool:
    """Only numbers, texts and bytes have an order."""
    if one is None or other is None or kind_of(one) != kind_of(other):
        return False
    return kind_of(one) in ("N", "S", "B") and bool(plain(one) < plain(other))


def length_of(attribute: Attribute | None) -> Attribute | None:
    if attribute is None or kind_of(attribute) in ("N", "BOOL", "NULL"):
        return None
    kind, value = kind_of(attribute), attribute[kind_of(attribute)]
    return {"N": str(len(b64decode(value)) if kind == "B" else len(value))}


def find(item: Item, path: Path) -> Attribute | None:
    """None if there is nothing at the path."""
    found: Attribute | None = item.get(str(path[0]))
    for step in path[1:]:
        if found is None:
            return None
        inside = found.get("L" if isinstance(step, int) else "M")
        if isinstance(step, int):
            found = inside[step] if inside is not None and step < len(inside) else None
        else:
            found = None if inside is None else inside.get(step)
    return found


def checked(attribute: Any, depth: int = 0) -> Attribute:
    """The attribute, if it is one. Raises Refused."""
    if not isinstance(attribute, dict) or len(attribute) != 1 or depth > DEEPEST:
        raise invalid("Supplied AttributeValue is not one value of one type")
    ((kind, value),) = attribute.items()
    if kind == "M" and isinstance(value, dict):
        for one in value.values():
            checked(one, depth + 1)
    elif kind == "L" and isinstance(value, list):
        for one in value:
            checked(one, depth + 1)
    else:
        _check_leaf(kind, value)
    return attribute


def _check_leaf(kind: str, value: Any) -> None:
    is_text = kind in ("S", "N", "B") and isinstance(value, str)
    is_set = kind in SETS and isinstance(value, list) and bool(value)
    if is_set and not all(isinstance(one, str) for one in value):
        raise invalid("A set has texts only")
    if not (is_text or is_set or (kind in ("BOOL", "NULL") and isinstance(value, bool))):
        raise invalid(f"Supplied AttributeValue has no such type: {kind[:20]}")
    if kind in ("N", "NS"):
        for one in [value] if kind == "N" else value:
            number_of({"N": one})
    if kind in ("B", "BS"):
        for one in [value] if kind == "B" else value:
            b64decode(one, validate=True)


def item_bytes(item: Item) -> int:
    """As DynamoDB counts them, to limit items and to bill requests."""
    return sum(len(name.encode()) + _bytes(value) for name, value in item.items())


def _bytes(attribute: Attribute) -> int:
    ((kind, value),) = attribute.items()
    if kind == "M":
        return 3 + item_bytes(value) + len(value)
    if kind == "L":
        return 3 + sum(_bytes(one) + 1 for one in value)
    if kind in SETS:
        return sum(_leaf_bytes(kind[0], one) for one in value)
    return 1 if kind in ("BOOL", "NULL") else _leaf_bytes(kind, value)


def _leaf_bytes(kind: str, value: str) -> int:
    if kind == "N":
        return len(value.lstrip("-").strip("0")) // 2 + 2
    if kind == "B":
        return len(value) * 3 // 4 - value[-2:].count("=")
    return len(value.encode())
