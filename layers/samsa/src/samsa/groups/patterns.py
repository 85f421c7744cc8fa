"""Subscriptions by regular expression, in RE2's syntax as the protocol demands.

RE2 itself does it (google-re2): its time is linear in what it reads, whatever a client sends. A
subset on top of Python's `re` would back-track, and would not be the language that clients test
their patterns in.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

MAX_PATTERN = 4_096
_BUDGET = 1 << 20


class BadPattern(Exception):
    """The pattern is not RE2's, or too large."""


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise BadPattern("the pattern is too long")
    import re2  # Most groups never need it, and it takes its time.

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _BUDGET
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise BadPattern(str(error)) from error


def matches(pattern: str, names: Iterable[str]) -> tuple[str, ...]:
    """The topics that the whole pattern stands for, sorted. Raises BadPattern."""
    fits = compile_pattern(pattern).fullmatch
    return tuple(sorted(name for name in names if fits(name)))
