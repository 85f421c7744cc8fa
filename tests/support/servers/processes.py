"""Servers that are processes of their own: started, waited for, ended."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

START_S = 60
T = TypeVar("T")


@contextmanager
def running(
    command: list[str], log: Path, ready: Callable[[], T | None], **variables: str
) -> Iterator[T]:
    """`variables` are of its environment, beside ours."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **variables}
        )
    try:
        yield wait_until(ready, process, log)
    finally:
        process.terminate()
        process.wait()


def wait_until(ready: Callable[[], T | None], process: subprocess.Popen[bytes], log: Path) -> T:
    deadline = time.monotonic() + START_S
    while (found := ready()) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()}")
        time.sleep(0.05)
    return found
