"""Histories: every operation on a partition, one JSON line each, as it ends.

An operation without an answer has neither a result nor a time of return: an append among them may
take effect at any later time, or never. Times are of the monotonic clock, which all processes of
the machine share.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Result = dict[str, Any]


class NoAnswer(Exception):
    """Cut off, timed out, or answered with an error that says nothing about the outcome."""


@dataclass(frozen=True)
class Call:
    process: int
    client: int
    partition: int
    kind: str
    arguments: dict[str, Any]


class History:
    """A file, written to by several threads. `counts` are of kinds, errors and unknown outcomes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self._file = path.open("w")
        self._lock = threading.Lock()

    def record(self, call: Call, perform: Callable[[], Result]) -> Result:
        """Perform and note it. Raises NoAnswer if its outcome is unknown."""
        invoked = time.monotonic_ns()
        try:
            result = perform()
        except NoAnswer as error:
            self._write(call, invoked, error=str(error))
            raise
        self._write(call, invoked, result=result, returned=time.monotonic_ns())
        return result

    def _write(self, call: Call, invoked: int, **more: Any) -> None:
        line = {"result": None, "returned": None, **vars(call), "invoked": invoked, **more}
        with self._lock:
            self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
            self.counts[call.kind] += 1
            if line["result"] is None:
                self.counts[f"unknown {call.kind}"] += 1
                self.counts[line["error"]] += 1

    @property
    def operations(self) -> int:
        return sum(self.counts[kind] for kind in ("append", "read", "end"))

    @property
    def unknown(self) -> int:
        return sum(self.counts[f"unknown {kind}"] for kind in ("append", "read", "end"))

    def close(self) -> None:
        self._file.close()
