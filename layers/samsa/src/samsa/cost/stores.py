"""What both shapes of Samsa pay alike: DynamoDB, S3, and what leaves AWS."""

from .acts import (
    EXTENT_BYTES,
    EXTENTS_LOOKED_AT,
    READS_PER_EXTENT,
    READS_PER_SEGMENT,
    ROUND,
    ROUND_OF_A_PARTITION,
    ROUND_THAT_EXPIRES,
    ROUND_THAT_MERGES,
    SEGMENT_BYTES,
    SEGMENT_ENTRY_BYTES,
    SEGMENTS_IN_TIME,
    UNMERGED_S,
    Act,
)
from .bill import Line, counted
from .load import GB, SECONDS, Load
from .prices import Prices

MILLION, THOUSAND = 1e6, 1e3
WRITES_PER_KEY = 1_000
"""A second, that DynamoDB takes for one partition key, and so for one partition of a topic."""


def took_s(act: Act, prices: Prices) -> float:
    """How long an act takes whose calls are made one after the other."""

    def assumed(name: str) -> float:
        return prices.number("assumed", name)

    calls = (act.reads + act.writes) * assumed("ledger_ms")
    return (calls + act.puts * assumed("put_ms") + act.gets * assumed("get_ms")) / 1000


def rounds(load: Load, slots: float, prices: Prices) -> Act:
    """A second's part of the rounds that retain and merge, of one janitor."""
    often = prices.number("assumed", "janitor_rounds_per_hour") / 3600
    each = steps(slots).plus(_looked_at(load, slots))
    return ROUND.plus(each.times(load.partitions)).times(often)


def steps(slots: float) -> Act:
    """Of a round, for one partition. What it looks at in any case it looks at once."""
    if not slots:
        return ROUND_OF_A_PARTITION
    return ROUND_THAT_EXPIRES.plus(ROUND_THAT_MERGES).plus(ROUND_OF_A_PARTITION.times(-1))


def _looked_at(load: Load, slots: float) -> Act:
    """By retention, in the index of one partition: from its start, where the segments are."""
    large = min(_segments(load, slots) / load.partitions, EXTENTS_LOOKED_AT)
    small = min(slots * UNMERGED_S / load.partitions, EXTENTS_LOOKED_AT - large)
    return Act(reads=large * READS_PER_SEGMENT + small * READS_PER_EXTENT)


def _segments(load: Load, slots: float) -> float:
    if not slots:
        return 0.0
    return load.partitions * SEGMENTS_IN_TIME + load.kept_gb * GB / SEGMENT_BYTES


def too_hot(load: Load, slots: float, writes: float) -> list[str]:
    """The limit on one partition: its head, its index and its producers are under one key."""
    most = WRITES_PER_KEY / writes
    if slots / load.partitions <= most:
        return []
    needed = int(slots / most) + 1
    return [f"DynamoDB takes about {most:.0f} appends a second of one partition: have {needed}"]


def lines(load: Load, used: Act, slots: float, prices: Prices) -> list[Line]:
    """`used` and `slots`: in a second."""
    month = used.times(SECONDS)
    puts = month.puts + month.lists
    index_bytes = slots * UNMERGED_S * EXTENT_BYTES
    index_gb = (index_bytes + _segments(load, slots) * SEGMENT_ENTRY_BYTES) / GB
    per_gb = prices.cost("dynamodb", "per_gb_month", index_gb)
    recovery = prices.cost("dynamodb", "per_gb_month_recovery", index_gb)

    def priced(what: str, unit: str, section: str, name: str, count: float, per: float) -> Line:
        return Line(what, counted(count, unit), prices.cost(section, name, count / per))

    return [
        priced("DynamoDB writes", "units", "dynamodb", "per_million_writes", month.writes, MILLION),
        priced("DynamoDB reads", "units", "dynamodb", "per_million_reads", month.reads, MILLION),
        Line("DynamoDB storage, recovery", f"{index_gb:,.1f} GB", per_gb + recovery),
        priced("S3 puts and lists", "calls", "s3", "per_thousand_puts", puts, THOUSAND),
        priced("S3 gets", "calls", "s3", "per_thousand_gets", month.gets, THOUSAND),
        Line(
            "S3 storage", f"{load.kept_gb:,.1f} GB", prices.cost("s3", "per_gb_month", load.kept_gb)
        ),
    ]


def to_internet(load: Load, prices: Prices, blown_up: float = 1.0) -> list[Line]:
    if not load.internet:
        return []
    out_gb = load.read_gb * blown_up
    cost = prices.cost("transfer", "per_gb_to_internet", out_gb)
    return [Line("transfer to the internet", f"{out_gb:,.1f} GB", cost)]
