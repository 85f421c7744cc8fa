"""What ACLs add to the CPU time of a produce: the same requests, as fast as they are answered, to a
broker with ACLs and to one without. At both the client logs in with SCRAM.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from samsa.records.record import Record, build
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import read_response, request_frame
from samsa.wire.messages import produce

from .addresses import HOST, free_port
from .brokers import PORT, Entrance, Samsa
from .logins import Client
from .process import ToolFailed
from .progress import say
from .secured import PREFIX, SUPER_USER, add_acls, make_user, plain_login
from .topics import topic
from .usage import fine_cpu_seconds

VERSION = 9
VALUE = bytes(1024)
IN_FLIGHT = 5
REQUESTS = 10_000
ACLS = ("--acls", "--super-user", SUPER_USER)


def percent_of_a_produce(scratch: Path, slices: int) -> list[float]:
    """What each slice with ACLs took beyond the one without beside it. Raises ToolFailed."""
    with _brokers(scratch) as brokers, ExitStack() as stack:
        loads = [stack.enter_context(_load(broker)) for broker in brokers]
        for load in loads:
            load.microseconds()
        found = []
        for number in range(slices):
            order = loads if number % 2 else loads[::-1]
            took = {load: load.microseconds() for load in order}
            without, with_acls = (took[load] for load in loads)
            found.append((with_acls / without - 1) * 100)
        say(f"  {without:.1f} µs without, {with_acls:.1f} µs with ACLs, at last")
        return found


class _Load:
    def __init__(self, client: Client, broker: Samsa, name: str) -> None:
        self._client = client
        self._pid = broker.pid
        records = build([Record(0, 1_700_000_000_000, None, VALUE)])
        partition = produce.PARTITION(index=0, records=records)
        entry = produce.TOPIC(name=name, partition_data=[partition])
        row = produce.REQUEST(acks=-1, timeout_ms=30_000, topic_data=[entry])
        self._frame = request_frame(APIS[ApiKey.PRODUCE], VERSION, 1, "bench", row)

    def microseconds(self) -> float:
        """CPU time of the broker for one request."""
        before = fine_cpu_seconds(self._pid)
        for _ in range(IN_FLIGHT):
            self._client.socket.sendall(self._frame)
        for number in range(REQUESTS):
            self._answered()
            if number < REQUESTS - IN_FLIGHT:
                self._client.socket.sendall(self._frame)
        return (fine_cpu_seconds(self._pid) - before) / REQUESTS * 1e6

    def _answered(self) -> None:
        read = self._client.file.read
        frame = memoryview(read(int.from_bytes(read(4), "big")))
        _, row = read_response(APIS[ApiKey.PRODUCE], VERSION, frame)
        (stored,) = row.responses[0].partition_responses
        if stored.error_code:
            raise ToolFailed(f"a produce was answered with error {stored.error_code}")


@contextmanager
def _load(broker: Samsa) -> Iterator[_Load]:
    with topic(broker, f"{PREFIX}acls") as name, Client(broker.entrance.address) as client:
        client.log_in()
        yield _Load(client, broker, name)


@contextmanager
def _brokers(scratch: Path) -> Iterator[Sequence[Samsa]]:
    """Without ACLs, and with."""
    brokers = []
    try:
        for has_acls in (False, True):
            port = free_port()
            listen = [f"plaintext://{HOST}:{PORT}", f"sasl+plaintext://{HOST}:{port}"]
            options = [part for each in listen for part in ("--listen", each)]
            folder = scratch / f"acls-{has_acls}"
            broker = Samsa(folder, [*options, *(ACLS if has_acls else ())])
            brokers.append(broker)
            broker.start()
            make_user(broker)
            if has_acls:
                add_acls(broker)
            broker.entrance = Entrance(f"{HOST}:{port}", plain_login())
        yield brokers
    finally:
        for broker in brokers:
            broker.stop()
