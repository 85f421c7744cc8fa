"""What one client of a transactional history writes down: JSON lines in a file of its own.

What a client is about to do is written before it does it, because it may be killed in between.
Times are of the monotonic clock, which all processes of the machine share.

| kind | by | more |
|---|---|---|
| begin | who produces | transaction |
| send | who produces | transaction, partition, value; source: the value that it was made of |
| stored | who produces | partition, value, offset: as it was acknowledged |
| commit | who produces | transaction: commit is called from here on |
| committed, aborted | who produces | transaction: the call has returned so |
| must abort, gave up | who produces | transaction, error: why, for people |
| look | who reads | it begins to read every partition from its start |
| read | who reads | partition, offsets, values |
| reached | who reads | partition, offset: nothing more was to be read below it |
| refused | who reads | partition, error: there is no such offset |
| ends | the last look | partition, stable, high: what the brokers say at the end |
| group | the last look | partition, offset: committed by the group that copies |
"""

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Line = dict[str, Any]


class Notebook:
    """Each line is in the file when `note` returns."""

    def __init__(self, folder: Path, by: str) -> None:
        self._file = (folder / f"{by}.jsonl").open("ab", buffering=0)
        self._by = by

    def note(self, kind: str, **more: Any) -> None:
        line = {"kind": kind, "by": self._by, "at": time.monotonic_ns(), **more}
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")


def together(folder: Path) -> list[Line]:
    """All that the clients wrote, in the order of time."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in read_lines(path)]
    return sorted(lines, key=lambda line: int(line["at"]))


def read_lines(path: Path) -> list[Line]:
    """Without a last line that is cut: its writer was killed meanwhile."""
    *whole, _ = path.read_bytes().split(b"\n")
    return [json.loads(line) for line in whole]


def save(path: Path, lines: Iterable[Line]) -> None:
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
