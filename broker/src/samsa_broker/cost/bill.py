"""A bill: lines that add up, with notes and exceeded limits."""

from typing import NamedTuple


class Line(NamedTuple):
    what: str
    how_much: str
    dollars: float


class Bill(NamedTuple):
    name: str
    lines: list[Line]
    beyond: list[str]
    """Limits that this load exceeds: it is not possible at this price, or at all."""

    @property
    def total(self) -> float:
        return sum(line.dollars for line in self.lines)


def counted(quantity: float, unit: str) -> str:
    """The quantity with three digits: `1.23 M calls`."""
    for size, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if quantity >= size:
            return f"{_digits(quantity / size)}{letter} {unit}"
    return f"{_digits(quantity)} {unit}"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"
