"""Play rounds of appends and reads under SIGKILL and SIGSTOP, and judge each of them.

    make histories SECONDS=600 SEED=7
    python tests/histories/play.py --seconds 600 --seed 7 --stores aws

Each kind of stores has its share of the time. The plan of signals and operations follows from the
seed; what the machine does in between does not. Histories stay in build/histories.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from histories import rounds
from histories.client import SEQUENCE_ERRORS
from histories.cluster import Pair, on_dynamodb_and_s3, on_one_folder
from histories.judging import LEGAL, judge
from support.servers.dynamodb_local import dynamodb_local
from support.servers.versitygw import versitygw
from support.stores import ACCESS_KEY, SECRET_KEY, make_bucket

SAVED = Path("build/histories")
ROUND_S = 40.0
AWS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def on_aws(folder: Path) -> Iterator[Pair]:
    os.environ.update(AWS)
    with dynamodb_local(folder) as dynamodb, versitygw(folder, ACCESS_KEY, SECRET_KEY) as s3:
        make_bucket(s3)
        with on_dynamodb_and_s3(folder, dynamodb, s3) as both:
            yield both


STORES = {"folder": on_one_folder, "aws": on_aws}


class Run:
    """Rounds on one kind of stores after the other."""

    def __init__(self, seed: int) -> None:
        self.found = 0
        self._moments = random.Random(str(seed))
        self._seed = seed
        self._totals: Counter[str] = Counter()

    def on(self, stores: str, seconds: float) -> None:
        until = time.monotonic() + seconds
        with tempfile.TemporaryDirectory() as folder, STORES[stores](Path(folder)) as both:
            while (left := until - time.monotonic()) > 1:
                self._round(both, stores, min(left, ROUND_S))

    def _round(self, both: Pair, stores: str, seconds: float) -> None:
        self._totals["rounds"] += 1
        path = SAVED / f"{self._seed}-{stores}-{self._totals['rounds']}.jsonl"
        path.with_suffix(".signals").unlink(missing_ok=True)
        played = rounds.play(both, path, self._moments, seconds, sleeps=True)
        began = time.monotonic()
        verdict = judge(path)
        counts = played.history.counts + played.signals
        counts["judging, ms"] = round(1000 * (time.monotonic() - began))
        self._totals += counts
        print(f"{path.stem:>16}  {figures(counts)}", flush=True)
        if verdict.code != LEGAL:
            self._report(path, verdict.said)
        if SEQUENCE_ERRORS & set(counts):
            self._report(path, "a producer that kept its order was told that it did not")

    def _report(self, path: Path, said: str) -> None:
        self.found += 1
        print(f"\nnot legal, or not decided: {path}\n{said}", flush=True)

    def tell(self) -> None:
        print(f"{self._totals['rounds']:>9} rounds  {figures(self._totals)}")
        for error in sorted(set(self._totals) - KNOWN):
            print(f"{self._totals[error]:9,} {error}")
        print(f"{self.found or 'nothing'} found")


KINDS = ("append", "read", "end")
UNKNOWN = {f"unknown {kind}" for kind in KINDS}
SIGNALS = {"killed", "started", "stopped", "continued"}
KNOWN = {*KINDS, *UNKNOWN, *SIGNALS, "rounds", "judging, ms"}


def figures(counts: Counter[str]) -> str:
    parts = [f"{counts[kind]:,} {kind}s" for kind in KINDS]
    parts.append(f"{sum(counts[kind] for kind in UNKNOWN)} unknown")
    parts.append(f"{counts['unknown append']} of them appends")
    parts.append(f"{counts['killed']} kills, {counts['stopped']} stops")
    parts.append(f"judged in {counts['judging, ms'] / 1000:.2f} s")
    return ", ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--stores", choices=[*STORES], action="append")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    SAVED.mkdir(parents=True, exist_ok=True)
    run = Run(seed)
    chosen = given.stores or [*STORES]
    for stores in chosen:
        run.on(stores, given.seconds / len(chosen))
    run.tell()
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
