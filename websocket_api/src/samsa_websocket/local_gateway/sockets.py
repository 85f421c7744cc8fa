"""uvicorn's WebSocket with access to frames, which an ASGI application cannot see.

ASGI passes on whole messages, so the size of a frame is checked here, below it. And only here can a
connection be aborted without a close frame.
"""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from .limits import ApiGatewayLimits

ABORT = "samsa.abort"


def protocol(limits: ApiGatewayLimits) -> type[WebSocketsSansIOProtocol]:
    class FrameLimits(WebSocketsSansIOProtocol):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.conn.max_message_size = limits.message_bytes
            self.conn.max_fragment_size = limits.frame_bytes

        def handle_connect(self, event: Any) -> None:
            super().handle_connect(event)
            if hasattr(self, "scope"):
                self.scope["extensions"][ABORT] = {"abort": self.transport.abort}

        async def send(self, message: Any) -> None:
            await super().send(message)
            # A refusal also completes the handshake; else uvicorn would log it as the app's error.
            self.handshake_complete = self.handshake_complete or self.close_sent

    return FrameLimits
