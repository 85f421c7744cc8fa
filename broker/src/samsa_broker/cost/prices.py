"""Prices from a file: sections of numbers, some of which depend on the quantity."""

from collections.abc import Mapping
from typing import Any, TypeAlias

Tiers: TypeAlias = list[tuple[float, float]]
"""The quantity from which on this price holds, and the price."""
NOTES = ("source", "as_of")


class BadPrices(Exception):
    """A file of prices that cannot be used."""


class Prices:
    def __init__(self, sections: Mapping[str, Mapping[str, Any]]) -> None:
        """Raises BadPrices."""
        self.region = str(sections.get("region", ""))
        self.notes: dict[str, tuple[str, str]] = {}
        """By section: the source of its prices, and their date."""
        self._values: dict[tuple[str, str], Tiers] = {}
        for section, values in sections.items():
            if isinstance(values, Mapping):
                self._read(section, values)

    def _read(self, section: str, values: Mapping[str, Any]) -> None:
        self.notes[section] = (str(values.get("source", "")), str(values.get("as_of", "")))
        for name, value in values.items():
            if name not in NOTES:
                self._values[section, name] = _tiers(f"{section}.{name}", value)

    def cost(self, section: str, name: str, quantity: float) -> float:
        """Dollars."""
        tiers = self._values[section, name]
        total = 0.0
        for number, (start, price) in enumerate(tiers):
            end = tiers[number + 1][0] if number + 1 < len(tiers) else quantity
            total += max(0.0, min(quantity, end) - start) * price
        return total

    def number(self, section: str, name: str) -> float:
        """A number that is not a price, but needed for the calculation."""
        return self._values[section, name][0][1]

    @property
    def oldest_and_newest(self) -> tuple[str, str]:
        dates = sorted(as_of for _, as_of in self.notes.values() if as_of)
        return (dates[0], dates[-1]) if dates else ("", "")


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below`, with values replaced from `above`. Raises BadPrices if `above` has unknown names."""
    result = dict(below)
    for name, value in above.items():
        if name not in below:
            raise BadPrices(f"there is no {name!r}; there are {', '.join(below)}")
        if isinstance(value, Mapping) != isinstance(below[name], Mapping):
            raise BadPrices(f"{name!r} is not of the kind that it replaces")
        result[name] = laid_over(below[name], value) if isinstance(value, Mapping) else value
    return result


def _tiers(name: str, value: Any) -> Tiers:
    rows = value if isinstance(value, list) else [[0, value]]
    if not rows or not all(isinstance(row, list) and len(row) == 2 for row in rows):
        raise BadPrices(f"{name} is neither a number nor a list of [from, price]")
    tiers = [(_number(name, start), _number(name, price)) for start, price in rows]
    if tiers[0][0] != 0 or tiers != sorted(tiers, key=lambda tier: tier[0]):
        raise BadPrices(f"{name}: the steps do not go up from 0")
    return tiers


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise BadPrices(f"{name}: {value!r} is not a number of 0 or more")
    return float(value)
