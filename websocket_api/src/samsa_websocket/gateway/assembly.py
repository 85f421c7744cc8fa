"""The broker of a function: the same handlers and log, and ports for each request."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from samsa.access.rules import SecurityRules
from samsa.aws.dynamodb import DynamoLedger
from samsa.aws.dynamodb_groups import DynamoGroups
from samsa.aws.journal import HeadJournal
from samsa.aws.presign import Presigner
from samsa.aws.s3 import S3Objects
from samsa.aws.tidying import Settling
from samsa.broker.broker import Broker, Rules
from samsa.broker.request_ports import RequestPorts
from samsa.data_path.legacy_fetch import LAST_WITH_MESSAGE_SETS
from samsa.log.stores import Limits, Stores
from samsa.ports import Clock, Objects
from samsa.wire.apis import ApiKey
from samsa.wire.frame import KafkaRequest
from samsa_websocket.pushes.open_connections import OpenConnections

from .object_ranges import RangedObjects
from .request_scope import RequestScope, StoppedClock
from .settings import GatewaySettings
from .wakeups import ConnectionWatches, ParkingWakeups, PushedWakeups

if TYPE_CHECKING:
    from samsa.runtime.audit import Audit

LOOK_AT_TRANSACTIONS_MS = 10_000
"""Longer than in a process: each look of a waiting reader is an invocation. It looks earlier if a
transaction times out."""
WATCH_MARGIN_MS = 60_000
"""How much longer a watch lasts than the kept answer that depends on it."""
OBJECTS_PER_READ = 128


class Assembly:
    def __init__(self, settings: GatewaySettings, clock: Clock, fresh: Callable[[], str]) -> None:
        self.clock = clock
        self.fresh = fresh
        table, bucket = settings.ledger, settings.objects
        self.ledger = DynamoLedger(table.name, table.endpoint, table.region)
        self.connections = OpenConnections(self.ledger.table)
        where = bucket.name, bucket.prefix, bucket.endpoint, bucket.region
        self.objects = S3Objects(*where)
        self.presigner = Presigner(*where)
        self.wakeups = PushedWakeups(self.ledger)
        self.journal = HeadJournal(
            self.ledger, self.objects, fresh, clock, settling=Settling.BESIDE
        )
        stores = Stores(
            self.ledger,
            self.objects,
            self.journal,
            clock,
            self.wakeups,
            fresh,
            Limits(objects_per_read=OBJECTS_PER_READ),
        )
        rules = Rules(
            settings.default_partitions,
            settings.auto_create_topics,
            settings.log_retention_hours,
            groups=_groups(settings.initial_rebalance_delay_ms),
            look_at_transactions_ms=LOOK_AT_TRANSACTIONS_MS,
            schema_registry=settings.schema_registry,
        )
        self.broker = Broker(stores, "", rules, groups=DynamoGroups(self.ledger.table))
        self.audit: Audit | None = None
        """None if there are no ACLs."""
        if settings.access is None:
            self.wakeups.pushes.topic_of = self.broker.catalog.last_seen
        else:
            # Wake-ups bring no records: the readers' rights are checked when they ask for them.
            self.audit = self._secure(settings.access)
        self._watch_ms = settings.good_ms + WATCH_MARGIN_MS

    def _secure(self, rules: SecurityRules) -> "Audit":
        """Imported only where there are ACLs, for the sake of cold starts."""
        from samsa.access.view import SecurityView
        from samsa.runtime.audit import Audit

        # The default level of a function would leave out logins and changes.
        logging.getLogger("samsa.audit").setLevel(logging.INFO)
        audit, groups = Audit(), self.broker.groups
        assert groups is not None
        self.broker.access = SecurityView(
            groups, self.clock, self.fresh, rules, audit.decided, audit.administered
        )
        return audit

    def ports(self, scope: RequestScope, request: KafkaRequest) -> RequestPorts:
        """The ports of one request."""
        clock, nonce = self.clock, self.fresh
        objects: Objects = self.objects
        if request.api_key == ApiKey.FETCH:
            clock = StoppedClock(clock.now_ms())
            if request.api_version > LAST_WITH_MESSAGE_SETS:
                objects = RangedObjects(objects, reads_windows=self.audit is not None)
        elif request.api_key == ApiKey.JOIN_GROUP:
            nonce = scope.same_nonce
        watches = ConnectionWatches(self.ledger, scope, clock.now_ms() + self._watch_ms)
        wakeups = ParkingWakeups(scope)
        return RequestPorts(clock, wakeups, nonce, objects, watches.ensure, scope.lingers)


def _groups(initial_rebalance_delay_ms: int | None) -> Any:
    if initial_rebalance_delay_ms is None:
        return None  # so that `samsa.groups` is imported only when a request needs it
    from samsa.groups import GroupSettings as GroupSettings

    return GroupSettings(initial_rebalance_delay_ms=initial_rebalance_delay_ms)
