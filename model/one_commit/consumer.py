"""What a client that reads committed data does with what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from one_commit.store import Aborted, Value

VERDICTS = {"commit": "delivered", "abort": "filtered", None: "hidden"}


def misread(
    end: int, values: Mapping[int, Value], aborted: Sequence[Aborted], decided: Mapping[int, str]
) -> str:
    """What goes wrong below the stable end, from any offset on; empty if nothing does."""
    for start in range(end):
        for base, verdict in _consume(start, end, values, aborted).items():
            right = VERDICTS[decided.get(values[base][1])]
            if verdict != right:
                what = f"{values[base]} at {base} is {verdict}, and should be {right}"
                return f"read from {start}: {what}"
    return ""


def _consume(
    start: int, end: int, values: Mapping[int, Value], aborted: Sequence[Aborted]
) -> dict[int, str]:
    """By offset: whether the client delivers it. The list comes with the fetch."""
    aborts = sorted(first for marker, first in aborted if marker >= start and first < end)
    aborting, told = False, {}
    for base in range(start, end):
        value = values[base]
        if value[0] == "transaction":
            if aborts and aborts[0] <= base:
                aborting, aborts = True, [first for first in aborts if first > base]
            told[base] = "filtered" if aborting else "delivered"
        elif value[:2] == ("marker", "abort"):
            aborting, aborts = False, [first for first in aborts if first > base]
    return told
