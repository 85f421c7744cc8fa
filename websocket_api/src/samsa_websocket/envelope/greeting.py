"""What a shim says when it connects, in the query of the WebSocket's URL.

The function never sees the client's socket. So the shim tells it at which address the client
reached the shim (Metadata returns this address), and the client's own address (shown in groups).
"""

from collections.abc import Mapping
from typing import NamedTuple

from samsa_websocket.envelope.messages import VERSION, EnvelopeError

LONGEST_HOST = 255


class Greeting(NamedTuple):
    address: tuple[str, int]
    """Where the client reached the shim."""
    client: str = ""
    """The client's own address, without a port."""


def greeting_query(greeting: Greeting) -> dict[str, str]:
    host, port = greeting.address
    return {"v": VERSION, "listen": f"{host}:{port}", "client": greeting.client}


def read_greeting(query: Mapping[str, str] | None) -> Greeting:
    """From the queryStringParameters of $connect. Raises EnvelopeError."""
    query = query or {}
    if query.get("v") != VERSION:
        raise EnvelopeError(f"this is envelope version {VERSION}, not {query.get('v')!r}")
    host, _, port = query.get("listen", "").rpartition(":")
    if not 0 < len(host) <= LONGEST_HOST or not _is_port(port):
        raise EnvelopeError(f"listen={query.get('listen')!r} is not HOST:PORT")
    return Greeting((host, int(port)), query.get("client", "")[:LONGEST_HOST])


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= 65535
