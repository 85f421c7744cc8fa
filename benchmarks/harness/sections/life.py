"""The log's life: merging, compacting, reading back what was merged, and what producers notice."""

import tempfile
from pathlib import Path

from harness.bench import Bench
from harness.brokers import SAMSA
from harness.life_of_a_log.compaction import compaction_speed
from harness.life_of_a_log.disturbance import p99_ms
from harness.life_of_a_log.far import read_back
from harness.life_of_a_log.merging import merge_speed
from harness.progress import say

MIB = 1024 * 1024


def measure(bench: Bench) -> None:
    quick = bench.plan.runs == 1
    for number in range(1, bench.plan.runs + 1):
        say(f"life: run {number} of {bench.plan.runs}")
        _merges(bench, 64 if quick else 512)
        _compactions(bench, 16 if quick else 128)
        _reads(bench, 2_000 if quick else 100_000)
        _latencies(bench, 300 if quick else 3_000)


def _merges(bench: Bench, megabytes: int) -> None:
    for key, size, appends, packed in (
        ("life.copy", MIB, megabytes, False),
        ("life.join", 1_024, 100 * megabytes, True),
    ):
        with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
            speed = merge_speed(Path(folder), size, appends, packed)
        say(f"  {key} {speed:,.0f} MB/s")
        bench.samples.add(key, SAMSA, speed)


def _compactions(bench: Bench, megabytes: int) -> None:
    for key, size in (("life.compact", 1_000), ("life.compact.small", 100)):
        with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
            speed = compaction_speed(Path(folder), size, megabytes)
        say(f"  {key} {speed:,.0f} MB/s")
        bench.samples.add(key, SAMSA, speed)


def _reads(bench: Bench, appends: int) -> None:
    before, after = read_back(appends, bench.plan.patience_s)
    say(f"  read back {before:.1f} MB/s, merged {after:.1f} MB/s")
    bench.samples.add("life.unmerged", SAMSA, before)
    bench.samples.add("life.merged", SAMSA, after)
    bench.samples.add("life.faster", SAMSA, after / before)


def _latencies(bench: Bench, messages: int) -> None:
    for compacted, quiet, busy, slower in (
        (False, "life.p99", "life.p99.janitor", "life.slower"),
        (True, "life.p99.keyed", "life.p99.compactor", "life.slower.compactor"),
    ):
        found = {}
        for janitor in (False, True):
            with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
                found[janitor] = p99_ms(Path(folder), messages, janitor, compacted)
        what = "compaction" if compacted else "merging"
        say(f"  p99 {found[False]:.2f} ms, beside {what} {found[True]:.2f} ms")
        bench.samples.add(quiet, SAMSA, found[False])
        bench.samples.add(busy, SAMSA, found[True])
        bench.samples.add(slower, SAMSA, found[True] / found[False])
