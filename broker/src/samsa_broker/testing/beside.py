"""A process with clusters for a test in another process (`process_host.py`).

Its first argument is the descriptor of one end of a pipe. Requests and answers go through it, one
at a time. When the other end is closed, also because its process was killed, this one ends.
"""

import asyncio
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from .cluster import Clusters
from .errors import SamsaError
from .loops import new_loop


async def serve(pipe: Connection) -> None:
    clusters = Clusters()
    while True:
        try:
            number, what, arguments = await asyncio.to_thread(pipe.recv)
        except (EOFError, OSError):
            break
        pipe.send((number, *await _done(clusters, what, arguments)))
    await clusters.close_all()


async def _done(clusters: Clusters, what: str, arguments: Any) -> tuple[bool, Any]:
    try:
        return True, await getattr(clusters, what)(*arguments)
    except SamsaError as error:
        return False, error
    except Exception as error:
        return False, SamsaError(f"{type(error).__name__}: {error}")


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the test, which closes the pipe
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(serve(Connection(int(sys.argv[1]))))
