"""A consumer that reads through the crashes and keeps all it has seen."""

import itertools
import threading
import time

from server.peer import Peer
from server.talk import read, records_in

from samsa.records import Record, headers
from samsa.wire.errors import ErrorCode

AWAY = {ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


class Reader:
    """Reads one partition from 0 on, from whichever address answers."""

    def __init__(self, topic: str, *addresses: tuple[str, int]) -> None:
        self.seen: list[Record] = []
        self._topic = topic
        self._addresses = addresses
        self._next = 0
        self._end = 0
        self._wrong: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"reader of {topic}", daemon=True)
        self._thread.start()

    def finish(self) -> list[Record]:
        self._stop.set()
        self._thread.join(30)
        assert not self._thread.is_alive()
        assert self._wrong is None, self._wrong
        return self.seen

    def _run(self) -> None:
        for address in itertools.cycle(self._addresses):
            if self._stop.is_set() or self._wrong:
                return
            try:
                with Peer(address) as peer:
                    self._read(peer)
            except (OSError, EOFError):
                time.sleep(0.02)

    def _read(self, peer: Peer) -> None:
        peer.socket.settimeout(5)
        while not self._stop.is_set() and not self._wrong:
            got = read(peer, self._topic, self._next, wait_ms=200)
            code = ErrorCode(got.error_code)
            if code in AWAY:
                time.sleep(0.05)
            elif code is not ErrorCode.NONE:
                self._wrong = (
                    f"{code.name} at offset {self._next}: what was visible is not any more"
                )
            elif got.high_watermark < self._end:
                self._wrong = f"the end went back from {self._end} to {got.high_watermark}"
            else:
                self._take(got)

    def _take(self, got: object) -> None:
        self._end = got.high_watermark
        for _, header in headers(got.records or b""):
            if header.next_offset > self._next and header.base_offset > self._next:
                self._wrong = f"offset {self._next} is missing before {header.base_offset}"
            self._next = max(self._next, header.next_offset)
        first = self.seen[-1].offset + 1 if self.seen else 0
        self.seen += [record for record in records_in(got.records) if record.offset >= first]
