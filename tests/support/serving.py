"""A server of the standard library, in a thread of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseServer

LOOK_EVERY_S = 0.02
"""How long its end may take."""


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """As long as the block runs; the server is closed after it."""
    thread = threading.Thread(target=server.serve_forever, args=(LOOK_EVERY_S,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
