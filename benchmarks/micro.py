"""Where the time of a request goes: each room of Samsa on its own, in this process.

The figures of one machine compare rooms and versions with one another, and nothing else.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import uvloop
from rooms import local, pure, requests
from rooms.timing import Case, Timing, measure

HEADINGS = ("room", "what", "µs a call", "MB/s", "ms for 1 MB")
SEPARATOR = (":---", ":---", "---:", "---:", "---:")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short rounds")
    parser.add_argument("--only", default="", help="cases whose room or name contains this")
    return parser.parse_args()


async def measure_all(folder: Path, only: str, seconds: float) -> list[Timing]:
    stores = local.open_stores(folder)
    cases = [*pure.cases(), *await local.cases(stores), *await requests.cases(stores)]
    timings = []
    for case in (case for case in cases if only in f"{case.room} {case.what}"):
        print(f"{case.room}: {case.what}", file=sys.stderr, flush=True)
        timings.append(await measure(case, seconds))
    await stores.journal.close()
    await stores.objects.close()
    await stores.ledger.close()
    return timings


def table(timings: list[Timing]) -> Iterator[str]:
    for cells in (HEADINGS, SEPARATOR, *(_cells(*timing) for timing in timings)):
        yield f"| {' | '.join(cells)} |"


def _cells(case: Case, seconds: float) -> tuple[str, ...]:
    speed = cost = ""
    if case.size:
        speed, cost = f"{case.size / seconds / 1e6:,.0f}", f"{seconds * 1e9 / case.size:.3f}"
    return case.room, case.what, f"{seconds * 1e6:,.1f}", speed, cost


def main() -> None:
    given = options()
    seconds = 0.02 if given.quick else 0.2
    with tempfile.TemporaryDirectory(prefix="samsa-micro-") as folder:
        timings = uvloop.run(measure_all(Path(folder), given.only, seconds))
    print("\n".join(table(timings)))


if __name__ == "__main__":
    main()
