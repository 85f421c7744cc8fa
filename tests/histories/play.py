"""Play rounds of appends and reads, or of transactions, under SIGKILL and SIGSTOP, and judge them.

    make histories SECONDS=600 SEED=7
    make histories SECONDS=3600 ARGS="--only transactions"
    python tests/histories/play.py --seconds 600 --seed 7 --only appends --stores aws

Each kind of history and of stores has its share of the time. The plan of signals and operations
follows from the seed; what the machine does in between does not. Histories stay in build/histories.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from histories import rounds
from histories.client import SEQUENCE_ERRORS
from histories.cluster import Pair, on_dynamodb_and_s3, on_one_folder
from histories.judging import LEGAL, judge
from histories.transactional import rounds as transactional_rounds
from histories.transactional import telling
from histories.transactional.functions import play_through
from support.chain import Chain, a_chain
from support.servers.dynamodb_local import dynamodb_local
from support.servers.versitygw import versitygw
from support.stores import ACCESS_KEY, SECRET_KEY, make_bucket, places

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


@contextmanager
def on_functions(folder: Path) -> Iterator[Chain]:
    os.environ.update(AWS)
    with dynamodb_local(folder) as dynamodb, versitygw(folder, ACCESS_KEY, SECRET_KEY) as s3:
        make_bucket(s3)
        with a_chain(folder, places((dynamodb, s3))) as chain:
            yield chain


STORES: dict[str, Callable[[Path], AbstractContextManager[Pair | Chain]]] = {
    "folder": on_one_folder,
    "aws": on_aws,
    "functions": on_functions,
}


class Run:
    """Rounds of one kind on one kind of stores after the other."""

    def __init__(self, seed: int) -> None:
        self.found = 0
        self._moments = random.Random(str(seed))
        self._seed = seed
        self._totals = {what: Counter[str]() for what in ROUNDS}

    def on(self, what: str, stores: str, seconds: float) -> None:
        until = time.monotonic() + seconds
        with tempfile.TemporaryDirectory() as folder, STORES[stores](Path(folder)) as both:
            while (left := until - time.monotonic()) > 1:
                self._totals[what]["rounds"] += 1
                path = SAVED / f"{self._seed}-{stores}-{self._totals[what]['rounds']}.jsonl"
                path.with_suffix(".signals").unlink(missing_ok=True)
                ROUNDS[what](self, both, path, min(left, ROUND_S))

    def appends(self, both: Pair | Chain, path: Path, seconds: float) -> None:
        assert not isinstance(both, Chain)
        played = rounds.play(both, path, self._moments, seconds, sleeps=True)
        began = time.monotonic()
        verdict = judge(path)
        counts = played.history.counts + played.signals
        counts["judging, ms"] = round(1000 * (time.monotonic() - began))
        self._totals["appends"] += counts
        print(f"{path.stem:>16}  {figures(counts)}", flush=True)
        if verdict.code != LEGAL:
            self._report(path, verdict.said)
        if SEQUENCE_ERRORS & set(counts):
            self._report(path, "a producer that kept its order was told that it did not")

    def transactions(self, both: Pair | Chain, path: Path, seconds: float) -> None:
        path = path.with_stem(f"{path.stem}-transactions")
        if isinstance(both, Chain):
            played = play_through(both, path, self._moments, seconds)
        else:
            java = shutil.which("java") is not None
            play = transactional_rounds.play
            played = play(both, path, self._moments, seconds, sleeps=True, java=java)
        counts = telling.counts_of(played)
        totals = self._totals["transactions"]
        longest = max(totals[telling.HELD_BACK], counts[telling.HELD_BACK])
        totals += counts
        totals[telling.HELD_BACK] = longest
        print(f"{path.stem}  {telling.figures(counts)}", flush=True)
        if played.verdict.anomalies:
            self._report(path, played.verdict.said)

    def _report(self, path: Path, said: str) -> None:
        self.found += 1
        print(f"\nnot legal, or not decided: {path}\n{said}", flush=True)

    def tell(self) -> None:
        appends, transactions = self._totals["appends"], self._totals["transactions"]
        if appends:
            print(f"{appends['rounds']:>9} rounds  {figures(appends)}")
        for error in sorted(set(appends) - KNOWN):
            print(f"{appends[error]:9,} {error}")
        if transactions:
            print(f"{transactions['rounds']:>9} rounds  {telling.figures(transactions)}")
        print(f"{self.found or 'nothing'} found")


ROUNDS = {"appends": Run.appends, "transactions": Run.transactions}
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
    parser.add_argument("--only", choices=[*ROUNDS])
    parser.add_argument("--stores", choices=[*STORES], action="append")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    SAVED.mkdir(parents=True, exist_ok=True)
    run = Run(seed)
    kinds = [given.only] if given.only else [*ROUNDS]
    # Histories of appends need processes, which are stopped and continued.
    chosen = [
        (what, stores)
        for what, stores in product(kinds, given.stores or [*STORES])
        if (what, stores) != ("appends", "functions")
    ]
    for what, stores in chosen:
        run.on(what, stores, given.seconds / len(chosen))
    run.tell()
    return 1 if run.found else 0


if __name__ == "__main__":
    sys.exit(main())
