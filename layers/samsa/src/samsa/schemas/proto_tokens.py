"""The words of a .proto text, without its comments."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .budget import Budget
from .errors import BadSchema

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n\f\v]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>\.?[0-9](?:[eE][+-]|[A-Za-z0-9_.])*+)
    |(?P<text>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+')
    |(?P<symbol>[{}()\[\]<>=;,.:/+-])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(?:([xX][0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


class Token(NamedTuple):
    kind: str
    text: str
    at: int


END = Token("end", "", -1)


def tokens(text: str, budget: Budget) -> Iterator[Token]:
    """Raises BadSchema."""
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise BadSchema(
                f"line {line_of(text, position)}: {text[position : position + 10]!r} is no Protobuf"
            )
        budget.spend()
        if found.lastgroup != "space":
            assert found.lastgroup is not None
            yield Token(found.lastgroup, found[0], position)
        position = found.end()


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at if at >= 0 else len(text)) + 1


def unquoted(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1][1:], 16))
    if found[2]:
        return chr(int(found[2], 8) & 0xFF)
    return _NAMED.get(found[3], found[3])


def whole(text: str) -> int:
    """Raises ValueError."""
    if len(text) > 25:
        raise ValueError("a number is too long")
    if text[:1] == "0" and text.isdecimal():
        return int(text, 8)
    return int(text, 0)
