"""Java programs that a test starts, kills and starts again."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.needs import frameworks

# A program lives for seconds: what a long-lived one gains from these costs more than it gives.
SHORT_LIVED = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")
STOP_S = 20


class Program:
    """A class with its arguments. It runs once at a time."""

    def __init__(self, name: str, arguments: Sequence[str], log: Path) -> None:
        target = frameworks()
        path = f"{target}/classes:{target}/dependency/*"
        self._command = ["java", *SHORT_LIVED, "-cp", path, name, *arguments]
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def raise_if_ended(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise RuntimeError(f"the program ended:\n{self._log.read_text()[-4000:]}")

    def kill(self) -> None:
        """SIGKILL: it can tell nobody."""
        self.raise_if_ended()
        assert self._process is not None
        self._process.kill()
        self._process.wait(STOP_S)

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
