"""Two `samsa up` on one DynamoDB and one S3, each behind a proxy of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from faults.proxy import FaultyProxy, faulty_proxy
from faults.weather import Fault, Weather
from server.peer import Peer
from support.broker import Broker, samsa_up

BROKERS = 2
STORM = {
    Fault.SLOW: 10,
    Fault.ERROR_500: 5,
    Fault.ERROR_503: 4,
    Fault.ERROR_AFTER: 4,
    Fault.RESET: 4,
    Fault.RESET_AFTER: 4,
    Fault.CUT: 4,
    Fault.SILENCE: 1,
    Fault.SILENCE_AFTER: 1,
    Fault.LATE: 1,
}
"""Of 120 requests. Few are silent: each of those takes the seconds that its client waits."""


@dataclass(frozen=True)
class Cluster:
    brokers: list[Broker]
    folders: list[Path]
    dynamodb: FaultyProxy
    s3: FaultyProxy

    @property
    def stores(self) -> list[FaultyProxy]:
        return [self.dynamodb, self.s3]

    def peer(self, number: int = 0) -> Peer:
        return Peer(self.brokers[number].address)

    @contextmanager
    def storm(self) -> Iterator[None]:
        for store in self.stores:
            store.weather.is_stormy = True
        try:
            yield
        finally:
            for store in self.stores:
                store.weather.is_stormy = False

    @contextmanager
    def outage(self, store: str, fault: Fault) -> Iterator[None]:
        weather = getattr(self, store).weather
        weather.outage = fault
        try:
            yield
        finally:
            weather.outage = None

    def unforeseen(self) -> list[str]:
        """What the brokers logged that nobody planned for."""
        lines = [line for folder in self.folders for line in (folder / "stderr").open()]
        return [line for line in lines if "Traceback" in line or " ERROR " in line]


@contextmanager
def a_cluster(
    dynamodb: str, s3: str, name: str, bucket: str, seed: str, folder: Path
) -> Iterator[Cluster]:
    folders = [folder / f"broker-{number}" for number in range(BROKERS)]
    with ExitStack() as stack:
        ledger, objects = (
            stack.enter_context(faulty_proxy(endpoint, Weather(f"{seed} {store}", STORM)))
            for store, endpoint in (("dynamodb", dynamodb), ("s3", s3))
        )
        options = [
            f"--ledger=dynamodb://{name}?endpoint={ledger.url}&region=us-east-1",
            f"--objects=s3://{bucket}/{name}?endpoint={objects.url}&region=us-east-1",
        ]
        for each in folders:
            each.mkdir()
        brokers = [stack.enter_context(samsa_up(each, *options)) for each in folders]
        yield Cluster(brokers, folders, ledger, objects)
