"""Subscriptions by regular expression, in RE2's syntax as the protocol demands.

RE2 itself is used (google-re2). Its time is linear in its input, whatever a client sends, and in
the size of the pattern's program, which is limited here. A subset on top of Python's `re` would
backtrack, and would not be the syntax in which clients test their patterns.

A topic's name never changes, so a match stays valid: `PatternMatches` remembers it, and matches
only new names.
"""

from collections.abc import Collection, Generator, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from samsa.bounded import Bounded

MAX_PATTERN = 4_096
MAX_PROGRAM = 2_000
"""RE2 instructions. In the worst case each runs for each character: 2 ms for a name of 249."""
COMPILED = 32
REMEMBERED = 32
_BUDGET = 1 << 20
_AT_ONCE = 16
"""Names that are matched between two yields."""


class BadPattern(Exception):
    """The pattern is not valid in RE2, or too large."""


@lru_cache(maxsize=COMPILED)
def compile_pattern(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise BadPattern("the pattern is too long")
    import re2  # Imported here: most groups never need it, and the import is slow.

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _BUDGET
    options.never_capture = True  # else each group of parentheses costs as much as all the pattern
    if pattern.isascii():
        options.encoding = re2.Options.Encoding.LATIN1  # enough for names: a third of the program
    try:
        compiled = re2.compile(pattern.encode(), options=options)
    except re2.error as error:
        raise BadPattern(str(error)) from error
    finally:
        re2.purge()  # its own cache would keep another hundred patterns, a megabyte each
    if compiled.programsize > MAX_PROGRAM:
        raise BadPattern("the pattern is too large")
    return compiled


class _Known(NamedTuple):
    names: Collection[str]
    """The names that were matched against the pattern."""
    found: tuple[str, ...]
    """Those of them that match, sorted."""


class PatternMatches:
    """Which topics each of the recent patterns matches."""

    def __init__(self) -> None:
        self._known = Bounded[str, _Known](REMEMBERED)

    def of(self, pattern: str, names: Collection[str]) -> Generator[None, None, tuple[str, ...]]:
        """The topics whose whole name matches, sorted; in steps. `names` must have a fast `in`, as
        a dictionary has. Raises BadPattern."""
        known = self._known.get(pattern, _Known((), ()))
        if known.names is not names:
            found = [name for name in known.found if name in names]
            yield from _add_matching(pattern, names, known.names, found)
            known = self._keep(pattern, _Known(names, tuple(sorted(found))))
        return known.found

    def at_once(self, pattern: str, names: Collection[str]) -> tuple[str, ...] | None:
        """The same, if there are no new names; else None."""
        known = self._known.get(pattern)
        return known.found if known is not None and known.names is names else None

    def _keep(self, pattern: str, known: _Known) -> _Known:
        self._known.keep(pattern, known)
        return known


def _add_matching(
    pattern: str, names: Iterable[str], known: Collection[str], found: list[str]
) -> Generator[None, None, None]:
    fits = compile_pattern(pattern).fullmatch
    new = [name for name in names if name not in known]
    for at, name in enumerate(new):
        if at % _AT_ONCE == 0:
            yield
        if fits(name.encode()):
            found.append(name)


def matches(pattern: str, names: Iterable[str]) -> tuple[str, ...]:
    """The same in one go, for the few names of a test or a tool."""
    steps = PatternMatches().of(pattern, dict.fromkeys(names))
    try:
        while True:
            next(steps)
    except StopIteration as done:
        found: tuple[str, ...] = done.value
        return found
