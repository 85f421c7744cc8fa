"""The ports of the serverless demo: the usual ones, or free ones."""

import errno
import socket
import sys

from .client import ClientError

HOST = "127.0.0.1"


def free_port(wanted: int | None, usual: int, flag: str) -> int:
    """The wanted port; or the usual one, or a free one if that is taken. Raises ClientError."""
    if wanted is not None:
        if not _is_free(wanted):
            raise ClientError(f"port {wanted} on {HOST} is taken; {flag} 0 picks a free one")
        return wanted
    if _is_free(usual):
        return usual
    print(f"port {usual} is taken, so another one is used ({flag} names one)", file=sys.stderr)
    return 0


def _is_free(number: int) -> bool:
    try:
        socket.create_server((HOST, number)).close()
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
