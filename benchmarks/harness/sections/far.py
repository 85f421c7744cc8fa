"""Samsa on far stores, beside the revision before an append was one commit.

Two kinds of figures: clocks, which this machine and its stores are part of; and what does not
depend on them: how many calls an append waits for, and how long those take on their way.
"""

import asyncio
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from harness.anchors import REPOSITORY
from harness.bench import Bench
from harness.brokers import SAMSA, Samsa
from harness.bundle import crowd
from harness.bundle.chain import Chain
from harness.far.calls import Calls, Span, counted, waits_ms, write_units
from harness.far.clients import PAUSE_S, acknowledged, seen
from harness.far.killed import hidden_ms
from harness.far.sides import Side, a_side, a_tree, both_stores
from harness.progress import say
from harness.rows import BEFORE, FAR_KINDS, FAR_METERED, FAR_SIZES
from harness.topics import topic

PRODUCERS = 50
WARM_UP_S = 2.0
SIZE = 1_024


def measure(bench: Bench) -> None:
    folder = bench.scratch / "far"
    folder.mkdir()
    with ExitStack() as started:
        before = started.enter_context(a_tree(folder / "tree", bench.before))
        endpoints = started.enter_context(both_stores(folder / "stores"))
        sides = [
            started.enter_context(a_side(name, tree, folder / name, endpoints))
            for name, tree in ((SAMSA, REPOSITORY), (BEFORE, before))
        ]
        for what, step in _steps():
            for side in bench.turns(sides, f"far, {what}"):
                with bench.forgiving(side, f"far, {what}"):
                    step(bench, side)


def _steps() -> Sequence[tuple[str, Callable[[Bench, Side], None]]]:
    return [
        ("samsa up", _up),
        ("shim and gateway", _bundle),
        ("end to end", _end_to_end),
        (f"{PRODUCERS} producers, samsa up", partial(_overlap, "up")),
        (f"{PRODUCERS} producers, shim and gateway", partial(_overlap, "bundle")),
        ("write units", _units),
        ("a writer is killed", _killed),
    ]


def _few(bench: Bench) -> int:
    """Single messages: they take a tenth of a second each."""
    return bench.plan.latencies // 4


def _up(bench: Bench, side: Side) -> None:
    for size in FAR_SIZES:
        for kind in FAR_KINDS:
            with topic(side.up, f"single-{size}-{kind}") as name:
                side.up_calls.skip()
                spans = acknowledged(
                    side.up.address, name, size, _few(bench), idempotent=kind == "idempotent"
                )
                _add(bench, side, f"{size}.{kind}", spans, side.up_calls)


def _bundle(bench: Bench, side: Side) -> None:
    with topic(side.chain, "single") as name:
        acknowledged(side.chain.address, name, SIZE, 1)  # functions start
        side.chain_calls.skip()
        spans = acknowledged(side.chain.address, name, SIZE, _few(bench))
        _add(bench, side, "bundle", spans, side.chain_calls)


def _end_to_end(bench: Bench, side: Side) -> None:
    with topic(side.chain, "seen") as name:
        side.chain_calls.skip()
        spans = seen(side.chain.address, name, SIZE, _few(bench))
        _add(bench, side, "e2e", spans, side.chain_calls)


def _add(bench: Bench, side: Side, key: str, spans: Sequence[Span], noted: Calls) -> None:
    calls = [call for call in noted.until_quiet() if call.began >= spans[0].began]
    each = [span.within(calls) for span in spans]
    p50 = statistics.median(span.ms for span in spans)
    waits = statistics.median(map(waits_ms, each))
    waited_for = {call for some in each for call in some}
    later = [call for call in calls if call not in waited_for]
    words = f"{counted(waited_for, len(spans))}; then {counted(later, len(spans))}"
    say(f"  {key}: p50 {p50:.1f} ms, waits {waits:.0f} ms: {words}")
    bench.samples.add(f"far.ack.{key}", side.side, p50)
    bench.samples.add(f"far.waits.{key}", side.side, waits)
    bench.samples.word(f"far.calls.{key}", side.side, words)


def _overlap(where: str, bench: Bench, side: Side) -> None:
    broker: Samsa | Chain = side.chain if where == "bundle" else side.up
    noted = side.chain_calls if where == "bundle" else side.up_calls
    seconds = bench.plan.seconds

    def per_second(producers: int, seconds: float) -> float:
        return asyncio.run(crowd.per_second(broker.address, name, producers, seconds))

    with topic(broker, "crowded") as name:
        per_second(1, WARM_UP_S)
        one = per_second(1, seconds)
        _warm_up(broker, partial(per_second, PRODUCERS, WARM_UP_S))
        noted.skip()
        many = per_second(PRODUCERS, seconds)
        calls = noted.more()
    words, units = counted(calls, many * seconds), write_units(calls) / (many * seconds)
    say(f"  one producer {one:.0f} msg/s, {PRODUCERS} producers {many:.0f} msg/s: {words}")
    bench.samples.word(f"far.calls.many.{where}", side.side, words)
    bench.samples.add(f"far.units.many.{where}", side.side, units)
    bench.samples.add(f"far.one.{where}", side.side, one)
    bench.samples.add(f"far.many.{where}", side.side, many)
    bench.samples.add(f"far.overlap.{where}", side.side, many / one)


def _warm_up(broker: Samsa | Chain, crowd_once: Callable[[], float]) -> None:
    """Until nobody has to wait for a function to start."""
    crowd_once()
    while isinstance(broker, Chain):
        started = broker.started()
        crowd_once()
        if broker.started() == started:
            return


def _units(bench: Bench, side: Side) -> None:
    count = _few(bench)
    for size in FAR_METERED:
        for key, pause_s in ((f"far.units.{size}", 0.0), (f"far.units.{size}.apart", PAUSE_S)):
            with topic(side.up, key) as name:
                side.up_calls.skip()
                spans = acknowledged(side.up.address, name, size, count, pause_s=pause_s)
                calls = side.up_calls.until_quiet()
            units = write_units(c for c in calls if c.began >= spans[0].began) / count
            say(f"  {key}: {units:.2f} write units")
            bench.samples.add(key, side.side, units)


def _killed(bench: Bench, side: Side) -> None:
    number = len(bench.samples.figures["far.hidden", side.side])
    hidden = hidden_ms(side, bench.scratch / "far" / f"{side.side}-killed-{number}")
    say(f"  hidden for {hidden:,.0f} ms")
    bench.samples.add("far.hidden", side.side, hidden)
