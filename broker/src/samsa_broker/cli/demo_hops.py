"""Prints what happens between the producer and the consumer of the serverless demo."""

import os
import sys
import threading
import time
from collections.abc import Callable

from samsa_broker.demo.hops import hop_line, run_text, sized
from samsa_websocket.local_gateway.observer import Observer, Run

from .demo_messages import about


class HopPrinter(Observer):
    """Called by the gateway's event loop, and by the threads of producer and consumer."""

    def __init__(self, closed: Callable[[], object]) -> None:
        """`closed` is called when the reader of the output has closed it."""
        self._closed = closed
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def hop(self, hop: str, what: str) -> None:
        self.say(hop_line(time.monotonic() - self._began, hop, what))

    def say(self, text: str) -> None:
        with self._lock:
            try:
                sys.stdout.write(f"{text}\n")
                sys.stdout.flush()
            except BrokenPipeError:
                # Else what is left of it would be written at exit, and fail again.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                self._closed()

    def message_in(self, text: str) -> None:
        self.hop("shim → API Gateway", sized(about(text), len(text)))

    def message_out(self, text: str) -> None:
        self.hop("API Gateway → shim", sized(about(text), len(text)))

    def pushed(self, text: str) -> None:
        self.hop("push → connection", sized(about(text), len(text)))

    def transferred(self, method: str, size: int) -> None:
        self.hop("shim ↔ S3", sized(f"{method} by presigned URL", size))

    def invoked(self, run: Run) -> None:
        why = about(run.body) if run.body else f"${run.event.lower()}"
        text = run_text(why, run.init_s, run.ran_s, run.used.calls, run.has_failed)
        self.hop(f"invoke {run.function}", text)
