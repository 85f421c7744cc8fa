"""Formats the results of `samsa cost`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from math import inf
from typing import Any

from samsa_broker.cost import BILLS, Bill, Load, Prices
from samsa_broker.cost.compare import OURS, BreakEven

RATES = (0, 1, 10, 100, 1_000, 10_000, 100_000)
PATIENT_MS, PATIENT_BYTES = 500, 1_000_000
WINDOW_MS, SHIM_LINGER_MS = 250, 100
WORTH_SAYING = 0.8
"""A line about waiting is shown only if it lowers the price to this share or less."""
WIDTHS = (28, 24, 14)
MORE_THAN_PENNIES = 100


def report(load: Load, prices: Prices, bills: Sequence[Bill], even: Sequence[BreakEven]) -> str:
    parts = [_described(load, prices), *(_bill(bill) for bill in bills), _evens(even)]
    parts += filter(None, [_patient(load, prices)])
    parts.append(_sources(prices))
    return "\n\n".join(parts)


def _described(load: Load, prices: Prices) -> str:
    return (
        f"A month of {_rate(load.messages_per_second)} messages/s of {load.size:,} bytes "
        f"({load.written_gb:,.1f} GB) in {prices.region}, in dollars\n"
        f"{load.producers:,} producers, {_consumers(load)}, {load.partitions:,} partitions, "
        f"kept for {_rate(load.retention_hours)} hours;\n"
        f"batches of {load.batch_bytes:,} bytes or {_rate(load.linger_ms)} ms"
        f"{' for each partition' if load.keyed else ''}"
        f"; a window of {_rate(load.window_ms)} ms, a linger of {_rate(load.shim_linger_ms)} ms"
    )


def _consumers(load: Load) -> str:
    groups = f"{load.groups:,} group{'s' if load.groups > 1 else ''}"
    return f"{load.consumers:,} consumers in {groups}" if load.consumers else "no consumers"


def _bill(bill: Bill) -> str:
    rows = [bill.name]
    rows += [_row(line.what, line.how_much, line.dollars) for line in bill.lines]
    rows.append(_row("total", "", bill.total))
    rows += [f"  beyond {text}" for text in bill.beyond]
    return "\n".join(rows)


def _row(what: str, how_much: str, dollars: float) -> str:
    first, second, third = WIDTHS
    return f"  {what:<{first}}{how_much:>{second}}{dollars:>{third},.2f}"


def _evens(even: Sequence[BreakEven]) -> str:
    rows = ["Break-even, if only the rate changes"]
    for each in even:
        pair = f"{each.ours} cheaper than {each.theirs}"
        rows.append(f"  {pair:<48}{_where(each.cheaper)}")
    return "\n".join(rows)


def _where(ranges: Sequence[tuple[float, float]]) -> str:
    if not ranges:
        return "at no rate"
    return " and ".join(map(_range, ranges)) + ("" if ranges == [(0.0, inf)] else " messages/s")


def _range(edges: tuple[float, float]) -> str:
    low, high = edges
    if low == 0:
        return "at any rate" if high == inf else f"below {_rounded(high)}"
    return f"above {_rounded(low)}" if high == inf else f"from {_rounded(low)} to {_rounded(high)}"


def _patient(load: Load, prices: Prices) -> str:
    """What it would save to let produces wait for others."""
    own = replace(load, window_ms=float(WINDOW_MS), shim_linger_ms=float(SHIM_LINGER_MS))
    clients = replace(load, linger_ms=float(PATIENT_MS), batch_bytes=PATIENT_BYTES)
    flags = (
        f"--window-ms {WINDOW_MS} --shim-linger-ms {SHIM_LINGER_MS}",
        f"--linger-ms {PATIENT_MS} --batch-bytes {PATIENT_BYTES}",
    )
    said = [
        f"With {flag}: {sums}"
        for flag, there in zip(flags, (own, clients), strict=True)
        if (sums := _savings(load, there, prices))
    ]
    return (
        "\n".join(["Each commit is paid for, and waiting for company makes them fewer.", *said])
        if said
        else ""
    )


def _savings(load: Load, there: Load, prices: Prices) -> str:
    totals = [(bill(load, prices), bill(there, prices)) for bill in OURS]
    if all(after.total > WORTH_SAYING * now.total for now, after in totals):
        return ""
    return ", ".join(f"{after.name[7:]} {after.total:,.2f}" for _, after in totals)


def _sources(prices: Prices) -> str:
    oldest, newest = prices.oldest_and_newest
    return (
        f"Public list prices of {prices.region}, on demand, known for {oldest} to {newest}; their\n"
        "pages are named by --show-prices, and --prices FILE says otherwise."
    )


def table(load: Load, prices: Prices) -> str:
    """Totals as Markdown, beginning with no clients at all; the lowest of each row is bold."""
    idle = replace(load, messages_per_second=0.0, producers=0, consumers=0)
    rows = [("no clients at all", idle)]
    rows += [
        (_rate(rate) if rate else "0, all idle", replace(load, messages_per_second=float(rate)))
        for rate in RATES
    ]
    names = [bill(load, prices).name for bill in BILLS]
    lines = [f"| messages/s | {' | '.join(names)} |", "|---" + "|---:" * len(names) + "|"]
    lines += [_cells(name, [bill(each, prices) for bill in BILLS]) for name, each in rows]
    return "\n".join(lines)


def _cells(name: str, bills: Sequence[Bill]) -> str:
    """A load beyond a limit has no price."""
    for_sale = [bill.total for bill in bills if not bill.beyond]
    shown = []
    for bill in bills:
        price = "–" if bill.beyond else _dollars(bill.total)
        shown.append(f"**{price}**" if not bill.beyond and bill.total == min(for_sale) else price)
    return f"| {name} | {' | '.join(shown)} |"


def _dollars(dollars: float) -> str:
    return f"${dollars:,.0f}" if dollars >= MORE_THAN_PENNIES else f"${dollars:,.2f}"


def as_json(
    load: Load, prices: Prices, bills: Sequence[Bill], even: Sequence[BreakEven]
) -> dict[str, Any]:
    return {
        "load": asdict(load),
        "region": prices.region,
        "prices": {
            section: {"source": source, "as_of": as_of}
            for section, (source, as_of) in prices.notes.items()
        },
        "bills": [
            {
                "name": bill.name,
                "total": bill.total,
                "lines": [line._asdict() for line in bill.lines],
                "beyond": bill.beyond,
            }
            for bill in bills
        ],
        "break_even": [
            {
                "samsa": each.ours,
                "other": each.theirs,
                "cheaper": [list(_ends(*edges)) for edges in each.cheaper],
            }
            for each in even
        ],
    }


def _ends(low: float, high: float) -> Iterator[float | None]:
    """JSON has no infinity."""
    yield low
    yield None if high == inf else high


def _rate(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,g}"


def _rounded(number: float) -> str:
    """Three digits: more would claim more precision than there is."""
    return f"{float(f'{number:.3g}'):,g}" if number < 1e5 else f"{float(f'{number:.3g}'):,.0f}"
