"""Clusters in a process beside the test's (`beside.py`)."""

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from multiprocessing import Pipe
from typing import Any

from .cluster_settings import ClusterSettings
from .errors import SamsaError
from .hosts import CLOSED, END_S

BEGIN = """
import sys
sys.path += [path for path in sys.argv[2:] if path not in sys.path]
from samsa_broker.testing.beside import main
main()
"""
"""With the places of modules that the tests have, after its own: a test's folder may have a module
that is called as one of Python's."""


class ProcessHost:
    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        self._turn = threading.Lock()
        self._asked = 0
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  # this Python, and a module of ours
                [sys.executable, "-P", "-c", BEGIN, str(theirs.fileno()), *filter(None, sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._owner = os.getpid()

    def _do(self, what: str, *arguments: Any) -> Any:
        with self._turn:
            try:
                is_done, result = self._exchange(what, arguments)
            except (OSError, EOFError) as error:
                raise SamsaError(
                    f"the broker's process has gone: {self._how_it_ended()}"
                ) from error
        if not is_done:
            raise result
        return result

    def _exchange(self, what: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        """Answers that an interrupted test did not wait for are left out."""
        self._asked += 1
        self._pipe.send((self._asked, what, arguments))
        while True:
            number, is_done, result = self._pipe.recv()
            if number == self._asked:
                return is_done, result

    def _how_it_ended(self) -> str:
        if self._pipe.closed:
            return CLOSED
        try:
            return f"exit status {self._process.wait(END_S)}; see what it wrote to stderr"
        except subprocess.TimeoutExpired:
            return "it does not answer"

    def open(self, settings: ClusterSettings) -> tuple[int, int]:
        number, port = self._do("open", settings)
        return number, port

    def call(self, number: int, name: str, arguments: Sequence[Any], how: dict[str, Any]) -> Any:
        return self._do("call", number, name, arguments, how)

    def close_cluster(self, number: int) -> None:
        self._do("close", number)

    def close(self) -> None:
        """The process ends when its pipe is closed. A fork of the test leaves it alone."""
        self._pipe.close()
        if os.getpid() != self._owner:
            return
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
