"""Opens a WebSocket, and explains in plain words why it did not open."""

import os
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI, WebSocketException

from samsa_websocket.envelope import MAX_MESSAGE, Greeting, greeting_query
from samsa_websocket.shim.errors import Away, ClientRefused, ShimError
from samsa_websocket.shim.settings import ShimSettings
from samsa_websocket.shim.signing import HandshakeSigner

NOT_ALLOWED = {401, 403}
TOO_MANY = 429
EXAMPLE = "wss://….execute-api.REGION.amazonaws.com/STAGE, or ws://127.0.0.1:3001/local"


def check_url(url: str) -> None:
    """Raises ClientRefused."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise ClientRefused(f"{url!r} is not the URL of a WebSocket API; one is {EXAMPLE}")


class GatewayAddress:
    """The cluster's URL, and the signature that it requires."""

    def __init__(self, settings: ShimSettings) -> None:
        check_url(settings.url)
        self.url = settings.url
        self._open_within = settings.times.open_within
        self._signer = HandshakeSigner(settings.profile, settings.region) if settings.sign else None

    async def open(self, greeting: Greeting) -> ClientConnection:
        """Raises ClientRefused or Away."""
        url = with_query(self.url, greeting_query(greeting))
        headers = await self._signer.headers(url) if self._signer else {}
        try:
            return await self._connect(url, headers)
        except (OSError, WebSocketException) as error:
            raise explained(self.url, error, self._signer is not None) from error

    async def _connect(self, url: str, headers: Mapping[str, str]) -> ClientConnection:
        return await connect(
            url,
            additional_headers=headers,
            compression=None,  # API Gateway has none, and base64 of batches gains nothing
            open_timeout=self._open_within,
            close_timeout=1,
            ping_interval=None,  # the envelope has its own ping: API Gateway counts it as a message
            max_size=2 * MAX_MESSAGE,
        )


def with_query(url: str, query: Mapping[str, str]) -> str:
    """Encoded as signatures require: all but unreserved characters."""
    more = urlencode(sorted(query.items()), quote_via=quote, safe="-_.~")
    return f"{url}{'&' if urlsplit(url).query else '?'}{more}"


def explained(url: str, error: Exception, signed: bool) -> ShimError:
    if isinstance(error, InvalidStatus):
        return _status(url, error.response.status_code, signed)
    if isinstance(error, InvalidURI | ssl.SSLCertVerificationError):
        return ClientRefused(f"{url}: {error}")
    if isinstance(error, socket.gaierror):
        # A name that does not exist is a typing error; one that cannot be looked up now is not.
        kind = ClientRefused if error.errno == socket.EAI_NONAME else Away
        return kind(f"{url}: there is no such host ({error.strerror})")
    if isinstance(error, TimeoutError):
        return Away(f"{url} does not answer: is the host right, and the network there?")
    if isinstance(error, InvalidHandshake):
        return Away(f"{url} is not a WebSocket: {error}")
    number = getattr(error, "errno", None)  # asyncio's own message repeats the address
    why = os.strerror(number) if number else error
    hint = ". Is `samsa local-api` running there?" if isinstance(error, ConnectionError) else ""
    return Away(f"{url}: {why}{hint}")


def _status(url: str, status: int, signed: bool) -> ShimError:
    if status in NOT_ALLOWED:
        if signed:
            why = (
                "these credentials may not connect (they need execute-api:Invoke on the stack's "
                "output ConnectResource), or the URL's stage is wrong"
            )
        else:
            why = "it wants a signature: try without --no-sign"
        return ClientRefused(f"{url} answers {status}: {why}")
    if 400 <= status < 500 and status != TOO_MANY:
        return ClientRefused(
            f"{url} answers {status}: there is no Samsa cluster (host/stage wrong?)"
        )
    if status >= 500:
        return Away(f"{url} answers {status}: the gateway function fails; its log says why")
    return Away(f"{url} answers {status}: too many connections at once")
