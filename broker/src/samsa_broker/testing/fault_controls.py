"""`samsa_broker.faults`: what a test may do to its clients."""

from typing import TYPE_CHECKING

from .waiting import wait_until

if TYPE_CHECKING:
    from .broker import SamsaBroker


class Fault:
    """A fault that was made, until it is cleared."""

    def __init__(self, broker: "SamsaBroker", number: int, what: str) -> None:
        self._broker = broker
        self._number = number
        self._what = what

    @property
    def hits(self) -> int:
        """How many requests it has met. A test that asserts on it cannot pass because nothing
        was asked."""
        return int(self._broker.call("fault_hits", self._number))

    def wait(self, hits: int = 1, timeout: float = 10.0) -> None:
        """Wait until it has met so many requests. Raises SamsaError when the time is up."""
        wait_until(
            lambda: self.hits >= hits,
            timeout,
            lambda: f"{self!r} met {self.hits} of {hits} requests",
        )

    def clear(self) -> None:
        self._broker.call("clear_faults", self._number)

    def __repr__(self) -> str:
        return f"<fault: {self._what}>"


class Faults:
    """Faults meet the requests of clients, and not what the fixture itself does. `api` is Kafka's
    name of an API, such as "Produce" or "JoinGroup". With `times` a fault ends after so many
    requests, else when it is cleared; with `client_id` it meets only this client."""

    def __init__(self, broker: "SamsaBroker") -> None:
        self._broker = broker

    def delay(
        self,
        api: str | int,
        seconds: float,
        *,
        times: int | None = None,
        client_id: str | None = None,
        after: bool = False,
    ) -> Fault:
        """A slow broker: requests wait before they are handled, or their answers wait (`after`)."""
        number = self._broker.call(
            "add_fault", api, delay_s=seconds, times=times, client_id=client_id, after=after
        )
        return Fault(self._broker, number, f"{api} delayed by {seconds} s")

    def fail(
        self,
        api: str | int,
        error: str | int,
        *,
        times: int | None = None,
        client_id: str | None = None,
    ) -> Fault:
        """A failing broker: requests do nothing, and get this error (Kafka's name or number) for
        all that they ask. If the answer has no place for an error, the connection is closed."""
        number = self._broker.call("add_fault", api, error, times=times, client_id=client_id)
        return Fault(self._broker, number, f"{api} fails with {error}")

    def disconnect(
        self,
        api: str | int,
        *,
        times: int | None = None,
        client_id: str | None = None,
        after: bool = False,
    ) -> Fault:
        """The connection ends when the request comes. With `after` the request is handled first: a
        record is stored, and its producer does not get to know it."""
        number = self._broker.call(
            "add_fault", api, disconnects=True, times=times, client_id=client_id, after=after
        )
        return Fault(self._broker, number, f"{api} disconnects")

    def rebalance(self, group: str) -> None:
        """The members of a group join again. Those of the consumer protocol (KIP-848) lose their
        partitions first. Raises SamsaError: there are none."""
        self._broker.call("rebalance", group)

    def fence(self, transactional_id: str) -> None:
        """As if another producer with this id had started: the one before is fenced, and what it
        has open is aborted. Raises SamsaError: no producer has used the id."""
        self._broker.call("fence", transactional_id)

    def clear(self) -> None:
        """All faults that were made."""
        self._broker.call("clear_faults")
