"""Programs that this one starts: followed line by line, and ended by their pid."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

GRACE_S = 30
Command = Sequence[str | Path]


class ToolFailed(Exception):
    """A program ended badly, or did not end in time. Carries the end of what it said."""


def run(
    command: Command,
    patience_s: float,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda _: None,
) -> tuple[int, str]:
    """Its exit code and all that it said; every line is handed on the moment it comes."""
    tool = subprocess.Popen(
        [str(part) for part in command],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    overdue = threading.Timer(patience_s, tool.kill)
    overdue.start()
    started = time.monotonic()
    try:
        said = _follow(tool, on_line)
        code = tool.wait()
    finally:
        overdue.cancel()
        with tool:
            tool.kill()
    if code == -signal.SIGKILL and time.monotonic() - started >= patience_s:
        raise ToolFailed(f"{_name(command)} took more than {patience_s:.0f} s")
    return code, said


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait until the block is over: it starts or ends what must not be lost."""
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, _: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def run_well(command: Command, patience_s: float) -> str:
    code, said = run(command, patience_s)
    if code:
        raise ToolFailed(f"{_name(command)} ended with {code}: {said.strip()[-500:]}")
    return said


def _follow(tool: "subprocess.Popen[str]", on_line: Callable[[str], None]) -> str:
    assert tool.stdout is not None
    said = []
    for line in tool.stdout:
        on_line(line)
        said.append(line)
    return "".join(said)


def _name(command: Command) -> str:
    return " ".join(Path(part).name for part in command[:2])


def end(process: psutil.Process) -> int | None:
    """SIGTERM, and SIGKILL for one that does not listen; its exit code if it was our child.

    psutil refuses to signal a pid that has since been given to another program.
    """
    with suppress(psutil.NoSuchProcess):
        process.terminate()
        try:
            code: int | None = process.wait(GRACE_S)
        except psutil.TimeoutExpired:
            process.kill()
            code = process.wait(GRACE_S)
        return code
    return None
