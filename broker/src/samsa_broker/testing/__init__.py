"""Samsa for other people's tests: a broker in the test's own process, or beside it.

    def test_an_order_is_billed(samsa_broker):
        samsa_broker.create_topic("orders", partitions=3)
        ...

The fixtures are in `plugin`, which pytest finds by itself; docs/testing.md shows how to use them.
Without pytest: `with a_broker() as broker: ...`. Names are imported when they are first used, so
that a run of pytest that uses none of this does not pay for it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samsa.wire.errors import ErrorCode

    from .broker import SamsaBroker, a_broker
    from .cluster_settings import ClusterSettings
    from .errors import SamsaError
    from .fault_controls import Fault, Faults
    from .record import Record

__all__ = [
    "ClusterSettings",
    "ErrorCode",
    "Fault",
    "Faults",
    "Record",
    "SamsaBroker",
    "SamsaError",
    "a_broker",
]

_MODULES = {
    "ClusterSettings": "samsa_broker.testing.cluster_settings",
    "ErrorCode": "samsa.wire.errors",
    "Fault": "samsa_broker.testing.fault_controls",
    "Faults": "samsa_broker.testing.fault_controls",
    "Record": "samsa_broker.testing.record",
    "SamsaBroker": "samsa_broker.testing.broker",
    "SamsaError": "samsa_broker.testing.errors",
    "a_broker": "samsa_broker.testing.broker",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULES[name]), name)
