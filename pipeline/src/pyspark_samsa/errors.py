"""Errors, with messages that say what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class SamsaError(Exception):
    """The data source cannot go on."""


class BadOption(SamsaError):
    """An option that is unknown or impossible."""


class UnknownTopic(SamsaError):
    """A topic or a partition that does not exist."""


class BadRows(SamsaError):
    """Rows that cannot be written as they are."""


class DataLoss(SamsaError):
    """Records that should have been read are gone."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question mark with the nearest right word, or nothing."""
    names = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), names, 1, 0.6)
    return f"; did you mean {names[near[0]]!r}?" if near else ""
