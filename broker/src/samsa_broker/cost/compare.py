"""Finds the rates at which Samsa is cheaper than another Kafka; all other settings stay the
same."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import NamedTuple, TypeAlias

from .bill import Bill
from .load import Load
from .of_functions import functions
from .of_kafka import kafka
from .of_msk import msk
from .of_processes import processes
from .prices import Prices

Billing: TypeAlias = Callable[[Load, Prices], Bill]
BILLS: tuple[Billing, ...] = (functions, processes, msk, kafka)
OURS: tuple[Billing, ...] = (functions, processes)
THEIRS: tuple[Billing, ...] = (msk, kafka)

LOWEST, HIGHEST = 1e-3, 1e6
"""The range of rates that is examined, in messages a second."""
STEPS = 180
HALVINGS = 40


class BreakEven(NamedTuple):
    ours: str
    theirs: str
    cheaper: list[tuple[float, float]]
    """Ranges of rates in which Samsa is cheaper; from 0 and to infinity at the ends."""


def break_evens(load: Load, prices: Prices) -> list[BreakEven]:
    ratio = (HIGHEST / LOWEST) ** (1 / STEPS)
    rates = [LOWEST * ratio**step for step in range(STEPS + 1)]
    totals = {
        bill: [_total(bill, load, prices, rate) for rate in rates] for bill in (*OURS, *THEIRS)
    }

    def between(one: Billing, other: Billing) -> BreakEven:
        def is_cheaper(rate: float) -> bool:
            return _total(one, load, prices, rate) < _total(other, load, prices, rate)

        cheaper = [mine < yours for mine, yours in zip(totals[one], totals[other], strict=True)]
        names = one(load, prices).name, other(load, prices).name
        return BreakEven(*names, _ranges(rates, cheaper, is_cheaper))

    return [between(one, other) for one in OURS for other in THEIRS]


def _total(bill: Billing, load: Load, prices: Prices, rate: float) -> float:
    there = replace(load, messages_per_second=rate, producers=max(1, load.producers))
    return bill(there, prices).total


def _ranges(
    rates: list[float], cheaper: list[bool], is_cheaper: Callable[[float], bool]
) -> list[tuple[float, float]]:
    """The ranges in which it is cheaper. The limits between two rates are found by bisection."""
    edges = [0.0] if cheaper[0] else []
    edges += [
        _crossing(is_cheaper, rates[number - 1], rates[number])
        for number in range(1, len(rates))
        if cheaper[number] != cheaper[number - 1]
    ]
    if cheaper[-1]:
        edges.append(inf)
    return list(zip(edges[::2], edges[1::2], strict=True))


def _crossing(is_cheaper: Callable[[float], bool], low: float, high: float) -> float:
    before = is_cheaper(low)
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if is_cheaper(middle) == before else (low, middle)
    return high
