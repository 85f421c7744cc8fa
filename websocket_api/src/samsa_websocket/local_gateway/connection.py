"""One client's connection, as API Gateway keeps it."""

from starlette.websockets import WebSocket, WebSocketState

from .events import Party
from .limits import ApiGatewayLimits
from .sockets import ABORT
from .stats import GatewayStats


class ClientGone(Exception):
    """The client is not there any more."""


class TooMuch(Exception):
    """The client does not read what it is sent."""


class ClientSocket:
    def __init__(
        self,
        socket: WebSocket,
        party: Party,
        limits: ApiGatewayLimits,
        stats: GatewayStats,
        now: float,
    ) -> None:
        self.party = party
        self.born = now
        self.last_active = now
        self.closed_with: tuple[int, str] | None = None
        """Set if the gateway closed it; the client's code comes with its close frame."""
        self._socket = socket
        self._limits = limits
        self._stats = stats
        self.unsent = 0

    @property
    def open(self) -> bool:
        return (
            self.closed_with is None
            and self._socket.application_state == WebSocketState.CONNECTED
            and self._socket.client_state == WebSocketState.CONNECTED
        )

    def patience(self, ends: float, now: float) -> float:
        """Seconds until it has lived or been idle for too long."""
        return min(ends, self.last_active + self._limits.idle_s) - now

    async def send(self, text: str, now: float) -> None:
        """Raises Gone or TooMuch."""
        size = len(text)
        if not self.open:
            raise ClientGone
        if self.unsent + size > self._limits.unsent_bytes:
            raise TooMuch
        self.unsent += size
        try:
            await self._socket.send_text(text)
        except Exception as error:
            # Starlette, uvicorn and websockets each raise another type for it.
            raise ClientGone from error
        finally:
            self.unsent -= size
        self.last_active = now
        self._stats.sent(size)

    async def close(self, code: int, reason: str) -> tuple[int, str]:
        if self.open:
            self.closed_with = code, reason
            await self._socket.close(code, reason)
        return code, reason

    def abort(self) -> None:
        """Break the connection without a close frame, as if the network had failed."""
        self.closed_with = 1006, ""
        self._socket.scope["extensions"][ABORT]["abort"]()
