"""JSON as text: read with limits, and written in one form."""

import json
from typing import Any

from .errors import BadSchema


def parsed(text: str) -> Any:
    """Raises BadSchema."""
    try:
        value = json.loads(text, parse_constant=_no_number)
        json.dumps(value, allow_nan=False)  # 1e999 is read as infinity
    except RecursionError:
        raise BadSchema("it is nested too deeply") from None
    except ValueError as error:
        raise BadSchema(f"it is no JSON: {error}") from None
    return value


def told(value: Any, in_order: bool = True) -> str:
    """`in_order`: sorted by name, so that equal values have equal texts."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=in_order)


def depth_of(value: Any) -> int:
    """1 for a value without values in it."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [
            each.values() if isinstance(each, dict) else each
            for each in level
            if isinstance(each, dict | list)
        ]
        level = [one for each in inner for one in each]
    return depth


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
