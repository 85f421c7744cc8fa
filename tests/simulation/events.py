"""What happened in a schedule, told for a failure or compared with another run."""

from typing import Any

from samsa.ports import Partition
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
    if isinstance(what, Fault):
        return f"[{what.value}]"
    if isinstance(what, Partition):
        return f"#{what.number}"
    if isinstance(what, bytes | memoryview):
        return _stored(bytes(what))
    if isinstance(what, tuple | list) and not hasattr(what, "_fields"):
        return "(" + ", ".join(map(_plain, what)) + ")"
    return str(what)


def _stored(data: bytes) -> str:
    try:
        found = [(h.base_offset, h.offsets, h.count, h.base_sequence) for _, h in headers(data)]
    except RecordError:
        return data.hex()
    return " ".join(f"<{o}+{n} {'data' if c else 'filler'} {s}>" for o, n, c, s in found)
