"""How much to measure: enough to be steady, or only enough to see that everything works."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    runs: int
    messages: int
    """1 KB messages that librdkafka produces in one turn, at most..."""
    seconds: float
    """...and for how long, at most."""
    warm_up_messages: int
    latencies: int
    java_records: Mapping[int, int]
    """Record size to number of records."""
    java_latencies: int
    transactional_messages: int
    transactions: int
    """Commits of which the time is taken, for one partition and for ten."""
    streams_lines: int
    """Lines of five words that Kafka Streams counts."""
    logins: int
    """In one turn."""
    acl_slices: int
    """Of 10,000 produces with ACLs and as many without."""
    rebalances: int
    """How often, in one turn, a member joins a group and leaves it again."""
    commits: int
    idle_seconds: float
    """For which idle members are watched."""
    starts: int
    spark_bytes: int
    """Of record values in each topic that Spark reads."""
    spark_batches: int
    """Micro-batches of one record in one turn."""
    patience_s: float
    """A tool that takes longer than this is ended, and its row stays empty."""


FULL = Plan(
    runs=3,
    messages=1_000_000,
    seconds=8,
    warm_up_messages=200_000,
    latencies=1_000,
    java_records={100: 2_000_000, 1024: 500_000, 10240: 100_000},
    java_latencies=5_000,
    transactional_messages=300_000,
    transactions=300,
    streams_lines=20_000,
    logins=300,
    acl_slices=20,
    rebalances=5,
    commits=1_000,
    idle_seconds=20,
    starts=5,
    spark_bytes=1_000_000_000,
    spark_batches=30,
    patience_s=300,
)
QUICK = Plan(
    runs=1,
    messages=50_000,
    seconds=3,
    warm_up_messages=5_000,
    latencies=100,
    java_records={100: 50_000, 1024: 10_000, 10240: 2_000},
    java_latencies=200,
    transactional_messages=20_000,
    transactions=30,
    streams_lines=2_000,
    logins=30,
    acl_slices=2,
    rebalances=2,
    commits=200,
    idle_seconds=6,
    starts=1,
    spark_bytes=20_000_000,
    spark_batches=5,
    patience_s=90,
)
