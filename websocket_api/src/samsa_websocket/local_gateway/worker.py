"""One function's environment: a process that answers one event at a time, and ends with its parent.

    python -m samsa_websocket.local_gateway.worker FD FOLDER MODULE.HANDLER

Messages on the socket are a length of four bytes and JSON. As in Lambda, the handler runs the event
loop, not this process.
"""

import ctypes
import importlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Handler = Callable[[Any, Any], Any]
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class LambdaContext:
    """What Lambda hands to a handler beside the event."""

    aws_request_id: str
    deadline_ms: int
    function_name: str
    invoked_function_arn: str
    memory_limit_in_mb: str
    function_version: str = "$LATEST"
    log_group_name: str = "local"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    def get_remaining_time_in_millis(self) -> int:
        return max(0, self.deadline_ms - time.time_ns() // 1_000_000)


def main(fd: str, folder: str, handler_name: str) -> None:
    _end_with_the_parent()
    with socket.socket(fileno=int(fd)) as channel, channel.makefile("rwb") as stream:
        try:
            handler = load(folder, handler_name)
        except Exception as error:
            _write(stream, _error(error))
            return
        _write(stream, _json(ready=True))
        while (asked := _read(stream)) is not None:
            _write(stream, answer(handler, asked))


def load(folder: str, handler_name: str) -> Handler:
    sys.path.insert(0, folder)
    module, _, name = handler_name.rpartition(".")
    handler: Handler = getattr(importlib.import_module(module), name)
    return handler


def answer(handler: Handler, asked: dict[str, Any]) -> bytes:
    try:
        result = handler(asked["event"], LambdaContext(**asked["context"]))
        return _json(result=result)  # as in Lambda, a result that is no JSON is a function error
    except Exception as error:
        return _error(error)


def _error(error: Exception) -> bytes:
    traceback.print_exception(error)
    return _json(error=f"{type(error).__name__}: {error}")


def _json(**said: Any) -> bytes:
    return json.dumps(said).encode()


def _read(stream: Any) -> dict[str, Any] | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    asked: dict[str, Any] = json.loads(stream.read(int.from_bytes(head, "big")))
    return asked


def _write(stream: Any, text: bytes) -> None:
    stream.write(len(text).to_bytes(4, "big") + text)
    stream.flush()


def _end_with_the_parent() -> None:
    """Without this, a frozen process would stay for ever after its parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this one
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() == 1:
            sys.exit()


if __name__ == "__main__":
    main(*sys.argv[1:])
