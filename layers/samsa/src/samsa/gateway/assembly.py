"""The broker of a function: the same handlers and log, on ports that know the present visit."""

from collections.abc import Callable
from typing import Any

from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.journal import HeadJournal
from samsa.aws.open_connections import OpenConnections
from samsa.aws.presign import Presigner
from samsa.aws.s3 import S3Objects
from samsa.handlers.broker import Broker, Rules
from samsa.log.stores import Limits, Stores
from samsa.ports import Clock

from .promises import PromisedObjects
from .settings import Place, Settings
from .visit import Door, Nonces, Visit, VisitClock
from .wakeups import ConnectionWatches, PushedWakeups

WATCH_MARGIN_MS = 60_000
"""How much longer a watch lasts than the answer that it keeps good."""
OBJECTS_PER_READ = 128


class Assembly:
    def __init__(self, settings: Settings, clock: Clock, fresh: Callable[[], str]) -> None:
        self.door = Door()
        self.clock = clock
        self.fresh = fresh
        self.ledger = _ledger(settings.ledger)
        self.connections = OpenConnections(self.ledger.table)
        self.objects = PromisedObjects(_objects(settings.objects))
        self.presigner = _presigner(settings.objects)
        self.wakeups = PushedWakeups(self.door, self.ledger)
        stores = Stores(
            self.ledger,
            self.objects,
            HeadJournal(self.ledger, self.objects, fresh, clock, settles_beside=True),
            VisitClock(self.door, clock),
            self.wakeups,
            Nonces(self.door, fresh),
            Limits(objects_per_read=OBJECTS_PER_READ),
        )
        rules = Rules(
            settings.default_partitions,
            settings.auto_create_topics,
            settings.log_retention_hours,
            groups=_groups(settings.initial_rebalance_delay_ms),
        )
        self.broker = Broker(stores, "", rules, groups=DynamoGroups(self.ledger.table))
        self.wakeups.pushes.topic_of = self.broker.catalog.last_seen
        watch_ms = settings.good_ms + WATCH_MARGIN_MS
        self.broker.log.watches = ConnectionWatches(stores, self.door, watch_ms)

    def enter(self, visit: Visit) -> Visit:
        self.door.visit = visit
        self.wakeups.address = visit.connection_id
        return visit


def _groups(initial_rebalance_delay_ms: int | None) -> Any:
    if initial_rebalance_delay_ms is None:
        return None  # and so nothing of groups is imported before one is asked for
    from samsa.groups import Settings as GroupSettings

    return GroupSettings(initial_rebalance_delay_ms=initial_rebalance_delay_ms)


def _ledger(place: Place) -> DynamoLedger:
    return DynamoLedger(place.name, place.endpoint, place.region)


def _objects(place: Place) -> S3Objects:
    return S3Objects(place.name, place.prefix, place.endpoint, place.region)


def _presigner(place: Place) -> Presigner:
    return Presigner(place.name, place.prefix, place.endpoint, place.region)
