"""How a cluster of a test begins. Sent to another process as it is."""

from dataclasses import dataclass, fields
from typing import Any

from .errors import SamsaError

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    auto_create_topics: bool = True
    default_partitions: int = 1
    """Of topics that are created without a number."""
    max_memory: int = 256 * 1024 * 1024
    """Of records and ledger together, in bytes. Above it, appends are refused."""


def settings_of(**given: Any) -> ClusterSettings:
    """Raises SamsaError, with the names that there are."""
    names = [field.name for field in fields(ClusterSettings)]
    unknown = sorted(set(given) - set(names))
    if unknown:
        raise SamsaError(f"there is no setting {unknown[0]!r}; there are: {', '.join(names)}")
    return ClusterSettings(**given)
