"""A well-behaved client that writes and reads back, again and again, on a thread of its own.

It shares the broker with a test that misbehaves, and must not notice.
"""

import threading
import time

from server.peer import SECONDS, Peer
from server.talk import create, read, records_in, values, write


class Neighbour:
    def __init__(self, address: tuple[str, int], topic: str) -> None:
        self.rounds = 0
        self._topic = topic
        self._peer = Peer(address)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="neighbour", daemon=True)
        create(self._peer, topic)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._once()
                time.sleep(0.002)
        except BaseException as error:
            self._error = error

    def _once(self) -> None:
        value = b"round %d" % self.rounds
        offset = write(self._peer, self._topic, value)
        assert offset == self.rounds
        assert values(records_in(read(self._peer, self._topic, offset).records)) == [value]
        self.rounds += 1

    def goes_on(self) -> None:
        """Waits for rounds that began after this call."""
        wanted, deadline = self.rounds + 2, time.monotonic() + SECONDS
        while self.rounds < wanted:
            if self._error is not None:
                raise AssertionError("the neighbour was harmed") from self._error
            assert time.monotonic() < deadline, f"the neighbour is stuck in round {self.rounds}"
            time.sleep(0.005)

    def stop(self) -> None:
        self.goes_on()
        self._stop.set()
        self._thread.join(SECONDS)
        self._peer.close()
