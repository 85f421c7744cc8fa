"""Lines of the serverless demo: one for each hop of a record, and the bill."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

HOP_WIDTH, TIME_WIDTH, ABOUT_WIDTH = 18, 9, 21
WHAT_WIDTH, COUNT_WIDTH, PRICE_WIDTH = 26, 20, 18
MICRO = 1e6


class Priced(NamedTuple):
    what: str
    how_much: str
    dollars: float


def hop_line(since_s: float, hop: str, what: str) -> str:
    return f"{since_s:>{TIME_WIDTH}.3f} s  {hop:<{HOP_WIDTH}}  {what}"


def sized(what: str, count: int) -> str:
    return f"{what:<{ABOUT_WIDTH}} {count:>8,} bytes"


def records(count: int) -> str:
    return f"{count:,} record" if count == 1 else f"{count:,} records"


def run_text(why: str, init_s: float, ran_s: float, calls: Mapping[str, int], failed: bool) -> str:
    """What an invocation was for, how long it took, whether it was cold, what it asked."""
    words = [f"{why:<{ABOUT_WIDTH}} {ran_s * 1000:>8,.0f} ms  "]
    words += ["FAILED"] if failed else []
    words.append(f"cold ({init_s * 1000:,.0f} ms to start)" if init_s else "warm")
    asked = ", ".join(f"{name} {count}" for name, count in sorted(calls.items()))
    return ", ".join([words[0] + ", ".join(words[1:]), *([asked] if asked else [])])


def bill_so_far(total: float, invocations: int, delivered: int) -> str:
    return (
        f"bill so far: {micro(total)} micro-dollars "
        f"({records(delivered)} delivered, {invocations:,} invocations)"
    )


def bill_table(title: str, lines: Sequence[Priced]) -> str:
    rows = [_row(title, "", "micro-dollars")]
    rows += [_row(f"  {line.what}", line.how_much, micro(line.dollars)) for line in lines]
    rows.append(_row("  total", "", micro(sum(line.dollars for line in lines))))
    return "\n".join(rows)


def micro(dollars: float) -> str:
    return f"{dollars * MICRO:,.2f}"


def _row(what: str, how_much: str, price: str) -> str:
    return f"{what:<{WHAT_WIDTH}}{how_much:>{COUNT_WIDTH}}{price:>{PRICE_WIDTH}}"
