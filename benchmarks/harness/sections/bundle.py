"""The serverless bundle on one machine, beside the figures of kafka-worker, from which it grew.

Everything goes through shim, local API Gateway and functions in processes of their own; the stores
are DynamoDB Local and versitygw. How well appends overlap is measured on a ledger in SQLite too:
DynamoDB Local is slower with one item the more calls want it at once.
"""

import asyncio
import statistics
from collections.abc import Callable
from functools import partial

from harness.bench import Bench
from harness.brokers import SAMSA
from harness.bundle import crowd, direct
from harness.bundle.chain import FAR, Chain, a_chain
from harness.bundle.cold import Artifacts
from harness.progress import say
from harness.rdkafka import load, turn
from harness.rows import KAFKA_WORKER, SEED
from harness.topics import topic

PRODUCERS = 50
WARM_UP_S = 4.0
SUFFIXES = {"far": "", "far-sqlite": ".sqlite"}
"""Of the rows' keys."""
FAR_AWAY = ("--environments", "24", "--functions", str(FAR))


def measure(bench: Bench) -> None:
    for key, figure in SEED.items():
        bench.samples.add(key, KAFKA_WORKER, figure)
    _cold(bench)
    with a_chain(bench.scratch / "chain") as chain:
        _runs(bench, chain, "librdkafka", _throughput)
        _runs(bench, chain, "single messages", _latency)
    _far(bench, "far", "DynamoDB Local")
    ledger = str(bench.scratch / "far-ledger.db")
    _far(bench, "far-sqlite", "a ledger in SQLite", SAMSA_FAR_LEDGER=ledger)


def _far(bench: Bench, name: str, ledger: str, **variables: str) -> None:
    what = f"{PRODUCERS} producers on one partition, far stores, {ledger}"
    with a_chain(bench.scratch / name, *FAR_AWAY, **variables) as chain:
        _runs(bench, chain, what, partial(_overlap, SUFFIXES[name]))


def _runs(bench: Bench, chain: Chain, what: str, measure: Callable[[Bench, Chain], None]) -> None:
    for number in range(1, bench.plan.runs + 1):
        say(f"bundle, {what}: run {number} of {bench.plan.runs}")
        with bench.forgiving(chain, what):
            measure(bench, chain)


def _cold(bench: Bench) -> None:
    say("bundle: building the layer for this machine")
    built = Artifacts(bench.scratch / "artifacts")
    bench.samples.add("bundle.layer", SAMSA, built.megabytes)
    built.start_ms()  # the files' pages are in memory from here on
    for _ in range(bench.plan.starts):
        bench.samples.add("bundle.cold", SAMSA, built.start_ms())


def _throughput(bench: Bench, chain: Chain) -> None:
    figures = turn(bench, chain, 1, *load(bench))
    produced, consumed = figures["produce"], figures["consume"]
    say(f"  produce {produced['msg_s']} msg/s, consume {consumed['MB_s']} MB/s")
    bench.samples.add("bundle.produce", SAMSA, produced["msg_s"])
    bench.samples.add("bundle.fetch", SAMSA, consumed["MB_s"])


def _latency(bench: Bench, chain: Chain) -> None:
    count = bench.plan.latencies
    with topic(chain, "single") as name:
        asyncio.run(crowd.latencies(chain.address, name, count // 4))  # functions start
        through = asyncio.run(crowd.latencies(chain.address, name, count))
        without = asyncio.run(direct.latencies(chain.url, name, count))
    p50, bare = statistics.median(through), statistics.median(without)
    say(f"  p50 {p50:.2f} ms, without the shim {bare:.2f} ms")
    bench.samples.add("bundle.ack", SAMSA, p50)
    bench.samples.add("bundle.direct", SAMSA, bare)
    bench.samples.add("bundle.added", SAMSA, p50 - bare)


def _overlap(suffix: str, bench: Bench, chain: Chain) -> None:
    def per_second(producers: int, seconds: float) -> float:
        return asyncio.run(crowd.per_second(chain.address, name, producers, seconds))

    with topic(chain, "crowded") as name:
        per_second(1, WARM_UP_S)
        one = per_second(1, bench.plan.seconds)
        # Until nobody has to wait for a function to start.
        started, before = -1, 0
        while started != before:
            before = chain.started()
            per_second(PRODUCERS, WARM_UP_S)
            started = chain.started()
        many = per_second(PRODUCERS, bench.plan.seconds)
    say(f"  one producer {one:.0f} msg/s, {PRODUCERS} producers {many:.0f} msg/s")
    bench.samples.add(f"bundle.one{suffix}", SAMSA, one)
    bench.samples.add(f"bundle.many{suffix}", SAMSA, many)
    bench.samples.add(f"bundle.overlap{suffix}", SAMSA, many / one)
