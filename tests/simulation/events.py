"""What happened in a schedule, told for a failure or compared with another run."""

import re
from collections.abc import Callable
from typing import Any

from samsa.log.producers import ProducerState
from samsa.ports import Bound, Claim, CommitResult, Extent, Head, Partition
from samsa.ports.heads import HeadClaim, HeadProducer, HeadState, HeadUpdate
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


def _entry(entry: Extent) -> str:
    where = KEY.sub(r"object \1", entry.key) if entry.key else "inline"
    shift = f" shifted by {entry.shift}" if entry.shift else ""
    return f"{entry.id} {entry.base}-{entry.end - 1} of {entry.size} bytes, {where}{shift}".strip()


def _head(head: Head) -> str:
    tail = " ".join(f"{entry.id}@{entry.base}" for entry in head.tail)
    return f"next {head.next_offset} start {head.log_start} tail ({tail})"


def _update(update: HeadUpdate) -> str:
    guards = f"sweeps {update.sweeps} settled {dict(update.settled)}"
    return f"<{_entry(update.entry)}> {_plain(list(update.claims))} {guards}"


def _head_state(state: HeadState) -> str:
    producers = " ".join(f"{one}: {_plain(there)}" for one, there in state.producers.items())
    counted = f"evictions {state.evictions} sweeps {state.sweeps}"
    return f"{_head(state.head)} {counted} producers ({producers})"


def _stored(data: bytes) -> str:
    try:
        found = [(h.base_offset, h.offsets, h.base_sequence) for _, h in headers(data)]
    except RecordError:
        return data.hex()
    return " ".join(f"<{offset}+{count} {sequence}>" for offset, count, sequence in found)


def _bound(bound: Bound) -> str:
    epoch, entries, _ = ProducerState.of(bound)
    return f"v{bound.version} epoch {epoch} " + " ".join(f"{e.first}@{e.base}" for e in entries)


KEY = re.compile(r"log/[-0-9a-f]+/\d+/0*(?=\w)(\w+)")
SHORT: dict[type, Callable[[Any], str]] = {
    Fault: lambda fault: f"[{fault.value}]",
    Partition: lambda partition: f"#{partition.number}",
    Extent: lambda extent: f"<{_entry(extent)}>",
    Head: _head,
    HeadState: _head_state,
    HeadUpdate: _update,
    HeadClaim: lambda c: f"{_plain(c.claim)} evictions {c.evictions}",
    HeadProducer: lambda p: f"{_bound(p.bound)} used {p.used_at}",
    Claim: lambda c: f"claim {c.producer_id} after v{c.after}",
    CommitResult: lambda r: f"base {r.base} lost {r.lost} {_head(r.head)}",
    Bound: _bound,
}
