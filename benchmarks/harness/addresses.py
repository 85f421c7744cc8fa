"""Free ports on the loopback interface."""

import socket

HOST = "127.0.0.1"
TRIES = 100


def free_port(neighbours: int = 0) -> int:
    """A free port with as many free ones behind it: Kafka's controller takes the next."""
    for _ in range(TRIES):
        with socket.socket() as first:
            first.bind((HOST, 0))
            port: int = first.getsockname()[1]
            if all(_is_free(port + step) for step in range(1, neighbours + 1)):
                return port
    raise OSError("there are no free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind((HOST, port))
        except (OSError, OverflowError):
            return False
        return True
