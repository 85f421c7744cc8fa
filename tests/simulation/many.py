"""Play far more schedules than the tests do, on every core.

    python tests/simulation/many.py --first 2000 --schedules 1000000
    python tests/simulation/many.py --seconds 600 --only-transactions --compaction

Tells the seed of each schedule that breaks an invariant, and at the end the paths that were taken.
"""

import argparse
import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulation.compactors import compacting, small_groups
from simulation.play import run
from simulation.setting import ONE_IN

EACH = 50
TELL_EVERY = 10_000

Played = tuple[list[tuple[int, str]], "Counter[str]", int]
"""Seeds with their violations, the paths, and how many schedules."""


def main() -> int:
    given = arguments()
    begun, played, found = time.monotonic(), 0, 0
    paths: Counter[str] = Counter()
    with Pool(given.processes) as pool:
        work = partial(play, compaction=given.compaction)
        for violations, taken, schedules in pool.imap_unordered(work, chunks(given)):
            before, played = played, played + schedules
            paths += taken
            for seed, violation in violations:
                found += 1
                print(f"seed {seed}: {violation}", flush=True)
            if before // TELL_EVERY != played // TELL_EVERY:
                print(f"{played:,} schedules, {rate(played, begun)}", flush=True)
            if time.monotonic() - begun > given.seconds:
                break
    print(*(f"{times:10,} {path}" for path, times in sorted(paths.items())), sep="\n")
    print(f"{played:,} schedules, {rate(played, begun)}: {found} broke an invariant")
    return int(found > 0)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the first seed (%(default)s)")
    parser.add_argument("--schedules", type=int, default=10_000, help="how many (%(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--compaction", action="store_true", help="compact the log, too")
    parser.add_argument("--only-transactions", action="store_true", help="only such schedules")
    return parser.parse_args()


def chunks(given: argparse.Namespace) -> Iterator[range]:
    step = ONE_IN if given.only_transactions else 1
    first = -(-given.first // step) * step
    for start in range(0, given.schedules, EACH):
        end = min(start + EACH, given.schedules)
        yield range(first + start * step, first + end * step, step)


def play(seeds: range, compaction: bool) -> Played:
    violations, paths = [], Counter[str]()
    gc.disable()
    for seed in seeds:
        if compaction:
            with small_groups():
                finished = run(seed, compacting())
        else:
            finished = run(seed)
        paths += finished.paths
        if finished.violation:
            violations.append((seed, finished.violation))
    gc.collect()
    return violations, paths, len(seeds)


def rate(played: int, begun: float) -> str:
    return f"{played / (time.monotonic() - begun):.0f} a second"


if __name__ == "__main__":
    sys.exit(main())
