"""How much work one schema or one value may cause."""

from .errors import BadValue, TooComplex

STEPS = 100_000
"""About a quarter of a second of Python."""
VALUE_STEPS = 3 * STEPS
"""For values: of one record, or of all in an answer."""
DEPTH = 200
"""Levels of nesting. Python's own limit is reached later than this, whatever the kind of schema."""


class Budget:
    __slots__ = ("_left",)

    def __init__(self, steps: int = STEPS) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Raises TooComplex."""
        self._left -= steps
        if self._left < 0:
            raise TooComplex(
                "it takes too much work: it is too large, or refers to itself too often"
            )


def raise_if_deep(depth: int) -> None:
    """Raises TooComplex."""
    if depth > DEPTH:
        raise TooComplex(f"it is nested more than {DEPTH} levels deep")


BYTES_PER_STEP = 10
"""Of values that a library decodes."""


def spend_for(data: bytes, budget: Budget | None) -> None:
    """Raises BadValue."""
    try:
        if budget is not None:
            budget.spend(len(data) // BYTES_PER_STEP)
    except TooComplex as error:
        raise BadValue(str(error)) from None
