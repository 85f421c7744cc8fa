"""Words of DynamoDB's expressions, and the paths in them.

An expression is parsed once and kept: its names and values come with each request. Reserved words
and some other things that DynamoDB refuses are not refused here: that the functions do not use them
is tested on DynamoDB Local.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .attributes import Attribute
from .refusals import Item, invalid

LONGEST = 4096
TOKEN = re.compile(r"\s*(<=|>=|<>|[=<>(),.+\[\]-]|[:#]?\w+)", re.ASCII)
NAME = re.compile(r"#?\w+", re.ASCII)
RawPath = tuple[str | int, ...]
"""Steps of a path, in which names may stand for others."""


@dataclass(slots=True)
class Scope:
    """What an expression is evaluated with."""

    names: Mapping[str, str]
    values: Mapping[str, Attribute]
    item: Item = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def path(self, raw: RawPath) -> RawPath:
        return tuple(self._name(step) if isinstance(step, str) else step for step in raw)

    def _name(self, step: str) -> str:
        if not step.startswith("#"):
            return step
        self.used.add(step)
        if step not in self.names:
            raise invalid(f"An expression attribute name is not defined: {step}")
        return self.names[step]

    def value(self, name: str) -> Attribute:
        self.used.add(name)
        if name not in self.values:
            raise invalid(f"An expression attribute value is not defined: {name}")
        return self.values[name]


class Words:
    """The words of one expression, from the first to the last."""

    def __init__(self, text: str) -> None:
        if len(text.encode()) > LONGEST:
            raise invalid("Expression size has exceeded the maximum allowed size")
        self._words: list[str] = []
        at = 0
        text = text.rstrip()
        while at < len(text):
            found = TOKEN.match(text, at)
            if found is None:
                raise invalid(f"Syntax error near {text[at : at + 20]!r}")
            self._words.append(found[1])
            at = found.end()
        self._at = 0

    def peek(self, ahead: int = 0) -> str:
        """The next word; empty at the end."""
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ""

    def next(self) -> str:
        word = self.peek()
        self._at += 1
        return word

    def takes(self, *wanted: str) -> bool:
        """Whether the next word is one of these; then it is behind us. Words have no case."""
        if self.peek().upper() not in wanted:
            return False
        self._at += 1
        return True

    def expect(self, wanted: str) -> None:
        if not self.takes(wanted):
            raise invalid(f"Syntax error near {self.peek()!r}: {wanted} is missing")

    def path(self) -> RawPath:
        steps: list[str | int] = [self._step()]
        while True:
            if self.takes("."):
                steps.append(self._step())
            elif self.takes("["):
                steps.append(self._index())
            else:
                return tuple(steps)

    def _step(self) -> str:
        word = self.next()
        if not NAME.fullmatch(word):
            raise invalid(f"Syntax error near {word!r}: a name is missing")
        return word

    def _index(self) -> int:
        word = self.next()
        self.expect("]")
        if not word.isdigit():
            raise invalid(f"Syntax error near {word!r}: an index is a number")
        return int(word)
