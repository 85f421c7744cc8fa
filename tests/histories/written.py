"""Histories written by hand, in few words: each operation at its time, all on one partition."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Line = dict[str, Any]
When = tuple[int, int | None]
"""Called and returned; without a return its outcome is unknown."""


def append(when: When, *values: str, at: int | None = None, client: int = 0) -> Line:
    return _line("append", when, client, {"values": list(values)}, {"offset": at})


def read(when: When, offset: int, *found: tuple[int, str], end: int, client: int = 0) -> Line:
    """It covers all up to the last value that it found."""
    result = {
        "offsets": [at for at, _ in found],
        "values": [value for _, value in found],
        "through": found[-1][0] + 1 if found else offset,
        "end": end,
    }
    return _line("read", when, client, {"offset": offset}, result)


def end(when: When, at: int, client: int = 0) -> Line:
    return _line("end", when, client, {}, {"end": at})


def _line(kind: str, when: When, client: int, arguments: Line, result: Line) -> Line:
    invoked, returned = when
    return {
        "process": client % 2,
        "client": client,
        "partition": 0,
        "kind": kind,
        "arguments": arguments,
        "result": None if returned is None else result,
        "invoked": invoked,
        "returned": returned,
    }


def write(path: Path, lines: Sequence[Line]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
