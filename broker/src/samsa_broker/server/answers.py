"""Encodes answers and passes them to the client's sender, in whichever form they come."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from samsa.broker.broker import Answer, Held
from samsa.broker.work import SHORT
from samsa.dispatch import encode, encode_later
from samsa.wire.errors import LongAnswer
from samsa.wire.frame import KafkaRequest
from samsa.wire.schema import Segment

from .replies import PendingReply
from .sender import Sender

if TYPE_CHECKING:
    from .listener import Server


class Answers:
    def __init__(self, sender: Sender, server: "Server") -> None:
        self._sender = sender
        self._server = server

    def send(self, request: KafkaRequest, row: Answer) -> bool:
        """False if the answer is too long to be encoded here."""
        if row is not None:
            try:
                self._write(encode(request, row, SHORT))
            except LongAnswer:
                return False
        return True

    async def send_long(self, request: KafkaRequest, row: Answer) -> None:
        self._write(await self._server.broker.work.in_thread(encode, request, row))

    async def send_held(self, request: KafkaRequest, held: Held) -> None:
        """The answer's memory is in use until the client's socket has taken all of it."""
        try:
            if not self.send(request, held.row):
                await self.send_long(request, held.row)
            await self._sender.drained()
        finally:
            held.release()

    def send_ready(self, ready: Sequence[PendingReply]) -> None:
        """Several answers at once, in order."""
        segments: list[Segment] = []
        for reply in ready:
            segments += encode_later(reply.request, reply.later)
        if segments:
            # None of them holds records: they are short, and fit into one packet.
            self._write([b"".join(segments)])

    def _write(self, segments: list[Segment]) -> None:
        size = sum(map(len, segments))
        self._server.stats.bytes_out += size
        self._sender.write(segments, size)
