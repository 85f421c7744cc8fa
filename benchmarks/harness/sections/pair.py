"""A pair of brokers, started and warm; at the end, what Samsa's requests cost in store calls."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harness.bench import Bench
from harness.brokers import DEFAULTS, SAMSA, Broker, BrokerFailed, Options, Samsa
from harness.process import ToolFailed
from harness.progress import say
from harness.rdkafka import warm_up

PER_REQUEST = {
    "produce": {"puts_per_produce": "puts", "ledger_writes_per_produce": "ledger writes"},
    "fetch": {"gets_per_fetch": "gets", "ledger_reads_per_fetch": "ledger reads"},
}


@contextmanager
def warm_pair(
    bench: Bench,
    section: str,
    options: Options = DEFAULTS,
    prepared: Callable[[Broker], None] = lambda _: None,
) -> Iterator[Sequence[Broker]]:
    """`prepared` is called with each broker when it has started."""
    with bench.brokers(options) as (samsa, kafka):
        for broker in (samsa, kafka):
            say(f"{section}: starting and warming up {broker.side}")
            broker.start()
            try:
                prepared(broker)
            except ToolFailed as failure:
                # Nothing that follows would mean anything.
                raise BrokerFailed(f"preparing {broker.side}: {failure}") from failure
            warm_up(bench, broker)
        yield samsa, kafka
        samsa.stop()
        _record_store_calls(bench, samsa, section)


def _record_store_calls(bench: Bench, samsa: Samsa, section: str) -> None:
    """Samsa counts them itself, in the last line of its log: what it would pay AWS for."""
    calls = samsa.store_calls()
    for request, names in PER_REQUEST.items():
        parts = [f"{calls[name]:.2f} {what}" for name, what in names.items() if name in calls]
        if parts:
            bench.samples.word(f"calls.{request}.{section}", SAMSA, ", ".join(parts))
