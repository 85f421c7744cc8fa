"""Samsa beside Apache Kafka, on this machine, in one run: one table of ratios.

Both brokers run on their defaults and take turns. Speed is the best of the runs, everything else
their median. Nothing is asserted: the exit code is 0 whatever the figures.
"""

import argparse
import dataclasses
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from harness import machine, table
from harness.anchors import NoAnchors, prepare
from harness.bench import Bench
from harness.brokers import BrokerFailed
from harness.plan import FULL, QUICK, Plan
from harness.process import ToolFailed, undisturbed
from harness.progress import say
from harness.sections import SECTIONS

CANNOT_RUN, INTERRUPTED = 2, 130
BEFORE = "e6589da"
"""The last revision that reserved, put and confirmed."""
NEEDED_GB = {True: 2, False: 20}
HOW = (
    "Both brokers on their defaults, on one machine, taking turns in one run (runs: {runs}). "
    "Speed is the best of the runs, everything else their median. MB and GB are decimal. "
    "Where there is no target, *ahead* and *behind* say which side of 1× the ratio is. "
    "Groups: both brokers with the same initial rebalance delay, as the rows say."
)

BUNDLE_HOW = (
    "Through shim, local API Gateway and functions, on DynamoDB Local and versitygw. Beside it "
    "are kafka-worker's best figures under miniflare, 1 KB, 1 partition. *Added by the shim*: "
    "the p50 of a produce of 1 KB through the shim, less that of the same envelopes sent "
    "straight to the local API Gateway. *Far stores*: each call of the ledger takes 5 ms "
    "longer, each put 25 ms; the ledger is DynamoDB Local, or SQLite where it says so. *Cold "
    "start*: import and init from the built layer, in a fresh process."
)


TESTS_HOW = (
    "Beside kfake, franz-go's imitation of Kafka in Go, as a program and, for the last row, as a "
    "library. The fixture is that of `samsa_broker.testing`, each time in a new Python."
)


FAR_HOW = (
    "Samsa beside itself at revision {before}, before an append was one commit, taking turns. "
    "DynamoDB Local and versitygw, with a proxy in front: each call of the ledger waits 5 ms, each "
    "put 25 ms, each get 15 ms. *Calls* are those that the produce waited for, then those that "
    "came after it. *Write units* are what DynamoDB Local says that it consumed."
)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs: does everything work?")
    parser.add_argument("--only", type=_sections, default=list(SECTIONS), help=",".join(SECTIONS))
    parser.add_argument("--runs", type=int, help="turns of each broker (3; 1 if quick)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the table, in markdown")
    parser.add_argument("--before", default=BEFORE, metavar="REV", help="of `far` (%(default)s)")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="where the logs go meanwhile")
    return parser.parse_args()


def _sections(text: str) -> list[str]:
    wanted = text.split(",")
    if unknown := sorted(set(wanted) - set(SECTIONS)):
        raise argparse.ArgumentTypeError(f"no {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    return [name for name in SECTIONS if name in wanted]


def plan_of(given: argparse.Namespace) -> Plan:
    plan = QUICK if given.quick else FULL
    return dataclasses.replace(plan, runs=max(1, given.runs)) if given.runs else plan


@contextmanager
def scratch(parent: Path | None, needed_gb: int) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="samsa-bench-", dir=parent))
    try:
        if shutil.disk_usage(folder).free < needed_gb * 1e9:
            say(f"less than {needed_gb} GB are free for the logs: --scratch names another place")
        yield folder
    finally:
        with undisturbed():
            shutil.rmtree(folder, ignore_errors=True)


def measure(bench: Bench, sections: list[str]) -> bool:
    """False if it was interrupted; what was measured until then is kept."""
    for name in sections:
        try:
            SECTIONS[name](bench)
        except KeyboardInterrupt:
            say("interrupted; everything that was started has ended")
            bench.samples.problem("interrupted")
            return False
        except BrokerFailed as failure:
            say(str(failure))
            bench.samples.problem(f"{name}: {failure}".partition("\n")[0])
    return True


def document(bench: Bench, warning: str | None) -> str:
    plan, samples = bench.plan, bench.samples
    how = HOW.format(runs=plan.runs) + (
        " Short runs (`--quick`)." if plan.messages < FULL.messages else ""
    )
    warned = [f"**Warning:** {warning}.", ""] if warning else []
    lines = ["# Samsa beside Apache Kafka", "", how, "", *warned]
    if beside_kafka := table.render(samples):
        lines += [beside_kafka, ""]
    if tests := table.tests(samples):
        lines += ["## For tests", "", TESTS_HOW, "", tests, ""]
    if bundle := table.bundle(samples):
        lines += ["## The serverless bundle, on one machine", "", BUNDLE_HOW, "", bundle, ""]
    if far := table.far(samples):
        how = FAR_HOW.format(before=bench.before)
        lines += ["## Far stores, beside the revision before", "", how, "", far, ""]
    lines += [*machine.describe(bench.anchors), "", *table.problems(samples)]
    return "\n".join(lines).rstrip() + "\n"


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends like Ctrl-C: by way of every `finally`."""
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return compare(options())
    except KeyboardInterrupt:
        return INTERRUPTED


def compare(given: argparse.Namespace) -> int:
    plan = plan_of(given)
    try:
        anchors = prepare()
    except (NoAnchors, ToolFailed) as failure:
        print(f"side_by_side: {failure}", file=sys.stderr)
        return CANNOT_RUN
    warning = machine.busy()
    if warning:
        say(f"WARNING: {warning}")
    with scratch(given.scratch, NEEDED_GB[given.quick]) as folder:
        bench = Bench(anchors, folder, plan, given.before)
        finished = measure(bench, given.only)
    text = document(bench, warning)
    print(text)
    if given.write:
        given.write.write_text(text)
        say(f"written to {given.write}")
    return 0 if finished else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
