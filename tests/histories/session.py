"""One who performs operations, one at a time, through whichever process answers."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from histories.link import Link
from histories.recording import Call, History, NoAnswer, Result

T = TypeVar("T")


class Session:
    """Each operation is one attempt, and one line of the history. It raises NoAnswer if its outcome
    is unknown: the session then goes on under a new number, because that operation stays open
    beside its next ones. It raises OSError if nobody listens: then nothing was sent. After both it
    goes on with another process."""

    def __init__(
        self,
        number: int,
        sessions: int,
        history: History,
        topic: str,
        addresses: Sequence[tuple[str, int]],
        patience_s: float,
    ) -> None:
        self._names = (f"s{number}-{n}".encode() for n in count())
        self._numbers = count(number, sessions)
        self._number = next(self._numbers)
        self._history = history
        self._topic = topic
        self._addresses = addresses
        self._patience_s = patience_s
        self._process = number % len(addresses)
        self._link: Link | None = None

    def new_values(self, how_many: int = 1, padding: int = 0) -> list[bytes]:
        """Nobody else has the first word of any of them."""
        return [next(self._names) + b" " + b"x" * padding for _ in range(how_many)]

    def append(self, partition: int, values: Sequence[bytes], **producer: int) -> int:
        names = [value.split()[0].decode() for value in values]
        done = self._record(
            partition,
            "append",
            {"values": names},
            lambda link: link.append(values, partition, **producer),
        )
        return int(done["offset"])

    def read(self, partition: int, offset: int, **more: int) -> Result:
        return self._record(
            partition, "read", {"offset": offset}, lambda link: link.read(offset, partition, **more)
        )

    def end(self, partition: int) -> int:
        return int(self._record(partition, "end", {}, lambda link: link.end(partition))["end"])

    def new_producer_id(self) -> int:
        """Not in the history: it is no operation on a partition."""
        return self._through_link(Link.new_producer_id)

    def move_on(self) -> None:
        """The next operation goes to another process."""
        if self._link is not None:
            self._link.close()
        self._link = None
        self._process = (self._process + 1) % len(self._addresses)

    def _record(
        self, partition: int, kind: str, arguments: dict[str, object], ask: Callable[[Link], Result]
    ) -> Result:
        call = Call(self._process, self._number, partition, kind, arguments)
        return self._through_link(lambda link: self._history.record(call, lambda: ask(link)))

    def _through_link(self, ask: Callable[[Link], T]) -> T:
        try:
            if self._link is None:
                self._link = Link(self._addresses[self._process], self._topic, self._patience_s)
            return ask(self._link)
        except (NoAnswer, OSError) as error:
            if isinstance(error, NoAnswer):
                self._number = next(self._numbers)
            self.move_on()
            raise
