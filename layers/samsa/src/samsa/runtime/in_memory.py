"""Stores in memory: for `samsa up --ephemeral` and for tests. One process has them, and nothing of
them is left when it ends."""

from dataclasses import replace

from samsa.log.stores import Limits

IN_MEMORY = "memory:///"
"""The URL of the ledger, and of the objects."""
SWEEP_GRACE_MS = 1_000
"""No other process reads: a reader that has planned on an object has read it by then."""
SEGMENT_BYTES = 16 * 1024 * 1024
"""A merge joins a whole segment in one step of the event loop."""


def limits_in_memory(usual: Limits | None = None) -> Limits:
    limits = usual or Limits()
    return replace(limits, sweep_grace_ms=SWEEP_GRACE_MS, segment_bytes=SEGMENT_BYTES)
