"""What happened in a schedule, told for a failure or compared with another run."""

import re
from collections.abc import Callable
from typing import Any

from samsa.log.producers import ProducerState
from samsa.ports import Bound, Confirmed, Extent, Head, Partition
from samsa.records import RecordError, headers

from .weather import Fault

Event = tuple[float, tuple[Any, ...]]


def story(seed: int, violation: str | None, events: list[Event]) -> str:
    lines = map(line, events)
    return "\n".join(
        [
            f"seed {seed}: {violation or 'every invariant holds'}",
            f"replay: SAMSA_SIM_SEED={seed} python -m pytest tests/simulation/test_schedules.py -s",
            *lines,
        ]
    )


def line(event: Event) -> str:
    when, what = event
    return f"  {when:10.4f}  " + " ".join(text for text in map(_plain, what) if text)


def _plain(what: Any) -> str:
    if what is None:
        return ""
    if isinstance(what, bytes | memoryview):
        return _stored(bytes(what))
    for kind, shown in SHORT.items():
        if isinstance(what, kind):
            return shown(what)
    if isinstance(what, tuple | list) and not hasattr(what, "_fields"):
        return "(" + ", ".join(filter(None, map(_plain, what))) + ")"
    return KEY.sub(r"object \1", str(what))


KEY = re.compile(r"log/[-0-9a-f]+/\d+/0*(?=\d)(\d+)")
SHORT: dict[type, Callable[[Any], str]] = {
    Fault: lambda fault: f"[{fault.value}]",
    Partition: lambda partition: f"#{partition.number}",
    Extent: lambda e: f"extent {e.base}-{e.end - 1} of {e.size} bytes",
    Head: lambda h: f"next {h.next_offset} start {h.log_start} open {dict(h.inflight)}",
    Confirmed: lambda c: f"{'was' if c.was_open else 'was not'} open, {_plain(c.head)}",
    Bound: lambda b: f"version {b.version} {_state(b.state)}",
}


def _state(state: bytes) -> str:
    epoch, entries = ProducerState.unpack(state)
    return f"epoch {epoch} " + " ".join(f"{e.first}-{e.last}@{e.base}/{e.slot}" for e in entries)


def _stored(data: bytes) -> str:
    try:
        found = [(h.base_offset, h.offsets, h.count, h.base_sequence) for _, h in headers(data)]
    except RecordError:
        return _state(data)
    return " ".join(f"<{o}+{n} {'data' if c else 'filler'} {s}>" for o, n, c, s in found)
