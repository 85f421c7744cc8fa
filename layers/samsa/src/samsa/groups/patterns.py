"""Subscriptions by regular expression, in RE2's syntax as the protocol demands.

RE2 itself does it (google-re2): its time is linear in what it reads, whatever a client sends, and
in the size of the pattern's program, which is bounded here. A subset on top of Python's `re` would
back-track, and would not be the language that clients test their patterns in.

A topic's name never changes, so neither does whether a pattern stands for it: `PatternMatches`
remembers that, and looks only at names that are new.
"""

from collections import OrderedDict
from collections.abc import Collection, Generator, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

MAX_PATTERN = 4_096
MAX_PROGRAM = 2_000
"""RE2's instructions. At worst each is looked at for each letter: 2 ms for a name of 249."""
COMPILED = 32
REMEMBERED = 32
_BUDGET = 1 << 20
_AT_ONCE = 16
"""Names between two rests."""


class BadPattern(Exception):
    """The pattern is not RE2's, or too large."""


@lru_cache(maxsize=COMPILED)
def compile_pattern(pattern: str) -> Any:
    if len(pattern) > MAX_PATTERN:
        raise BadPattern("the pattern is too long")
    import re2  # Most groups never need it, and it takes its time.

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _BUDGET
    options.never_capture = True  # else a group of parentheses costs as much as the whole pattern
    if pattern.isascii():
        options.encoding = re2.Options.Encoding.LATIN1  # as names are: a third of the program
    try:
        compiled = re2.compile(pattern.encode(), options=options)
    except re2.error as error:
        raise BadPattern(str(error)) from error
    finally:
        re2.purge()  # it would remember another hundred of them, a megabyte each
    if compiled.programsize > MAX_PROGRAM:
        raise BadPattern("the pattern is too large")
    return compiled


class _Known(NamedTuple):
    names: Collection[str]
    """That were looked at."""
    found: tuple[str, ...]
    """Those of them that the pattern stands for, sorted."""


class PatternMatches:
    """Which topics each of the last patterns stands for."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def of(self, pattern: str, names: Collection[str]) -> Generator[None, None, tuple[str, ...]]:
        """The topics that the whole pattern stands for, sorted; in steps. `names` can be asked for
        a name as quickly as a dictionary can. Raises BadPattern."""
        known = self._known.get(pattern, _Known((), ()))
        if known.names is not names:
            found = [name for name in known.found if name in names]
            yield from _add_matching(pattern, names, known.names, found)
            known = self._keep(pattern, _Known(names, tuple(sorted(found))))
        return known.found

    def at_once(self, pattern: str, names: Collection[str]) -> tuple[str, ...] | None:
        """The same where there is nothing to look at."""
        known = self._known.get(pattern)
        return known.found if known is not None and known.names is names else None

    def _keep(self, pattern: str, known: _Known) -> _Known:
        self._known[pattern] = known
        self._known.move_to_end(pattern)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
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
