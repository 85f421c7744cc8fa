"""What becomes of each request, by a seed: a deck of cards, shuffled, one drawn per request.

A deck rather than dice, so that every kind of fault is met within as many requests as it has cards.
"""

import random
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from faults.messages import Message


class Fault(Enum):
    NONE = "none"
    SLOW = "slow"
    ERROR_500 = "500, and nothing was done"
    ERROR_503 = "503, and nothing was done"
    ERROR_AFTER = "500, though it was done"
    RESET = "a reset, and nothing was done"
    RESET_AFTER = "a reset, though it was done"
    CUT = "done, and half an answer"
    SILENCE = "nothing was done, and there is no answer"
    SILENCE_AFTER = "done, and there is no answer"
    LATE = "no answer, and done after the client gave up"


class Card(NamedTuple):
    fault: Fault
    delay_s: float = 0.0
    """Of what is slow, and of what is done late."""
    part: float = 0.5
    """How much of an answer that is cut gets through."""


class Weather:
    """`cards` says how many of `deck` requests meet each fault; `longest_s` is the worst delay
    of a slow or late one. `outage` is a fault that every request meets while it is set."""

    def __init__(
        self, seed: str, cards: Mapping[Fault, int], deck: int = 120, longest_s: float = 0.5
    ) -> None:
        self.is_stormy = False
        self.outage: Fault | None = None
        self._random = random.Random(seed)
        self._cards = [fault for fault, count in cards.items() for _ in range(count)]
        self._cards += [Fault.NONE] * (deck - len(self._cards))
        self._longest_s = longest_s
        self._deck: list[Fault] = []

    @property
    def is_fair(self) -> bool:
        return not self.is_stormy and self.outage is None

    def draw_for(self, request: Message) -> Card:
        """For those who look at the request."""
        return self.draw()

    def draw(self) -> Card:
        if self.outage is not None:
            return Card(self.outage)
        if not self.is_stormy:
            return Card(Fault.NONE)
        if not self._deck:
            self._deck = self._random.sample(self._cards, len(self._cards))
        fault = self._deck.pop()
        return Card(fault, self._random.uniform(0, self._longest_s), self._random.random())
