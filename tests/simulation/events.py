"""What happened in a schedule, told for a failure or compared with another run."""

import re
from collections.abc import Callable
from typing import Any

from samsa.log.producers import ProducerState
from samsa.ports import Bound, Claim, CommitResult, Extent, Head, Partition, TransactionItem
from samsa.ports.heads import HeadClaim, HeadProducer, HeadState, HeadUpdate
from samsa.records import RecordError, headers
from samsa.transactions import AddPartitions, unpack

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
    open_here = f" open {dict(head.open_transactions)}" if head.open_transactions else ""
    aborted = f" aborted {[tuple(one) for one in head.aborted]}" if head.aborted else ""
    return f"next {head.next_offset} start {head.log_start} tail ({tail}){open_here}{aborted}"


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
    epoch, entries, _, ended = ProducerState.of(bound)
    batches = " ".join(f"{e.first}@{e.base}" for e in entries)
    return f"v{bound.version} epoch {epoch} ended {ended} {batches}"


def _head_claim(one: HeadClaim) -> str:
    changes = [
        f"opens {one.opens}" if one.opens is not None else "",
        "closes" if one.closes else "",
        f"aborts {one.aborted}" if one.aborted else "",
    ]
    return " ".join([_plain(one.claim), f"evictions {one.evictions}", *filter(None, changes)])


def _claim(claim: Claim) -> str:
    opens = f" opens {claim.opens}" if claim.opens >= 0 else ""
    ends = f" ends {claim.ends.name}" if claim.ends is not None else ""
    return f"claim {claim.producer_id} after v{claim.after}{opens}{ends}"


def _transaction(item: TransactionItem) -> str:
    if not item.state:
        return f"v{item.version}"
    one = unpack(item.state)
    places = sorted(number for _, number in one.partitions)
    what = f"{one.state.value} {one.producer_id}/{one.epoch} serial {one.serial} in {places}"
    return f"v{item.version} {what} {sorted(one.groups)}"


KEY = re.compile(r"log/[-0-9a-f]+/\d+/0*(?=\w)(\w+)")
SHORT: dict[type, Callable[[Any], str]] = {
    Fault: lambda fault: f"[{fault.value}]",
    Partition: lambda partition: f"#{partition.number}",
    Extent: lambda extent: f"<{_entry(extent)}>",
    Head: _head,
    HeadState: _head_state,
    HeadUpdate: _update,
    HeadClaim: _head_claim,
    HeadProducer: lambda p: f"{_bound(p.bound)} used {p.used_at}",
    Claim: _claim,
    TransactionItem: _transaction,
    AddPartitions: lambda r: f"add {sorted(number for _, number in r.partitions)}",
    CommitResult: lambda r: f"base {r.base} lost {r.lost} {_head(r.head)}",
    Bound: _bound,
}
