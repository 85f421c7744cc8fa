"""Costs that functions and processes have in common: DynamoDB, S3, and traffic out of AWS."""

from collections.abc import Sequence
from typing import NamedTuple

from samsa.ports.bounds import INLINE_BYTES

from .acts import (
    EXTENTS_LOOKED_AT,
    LEAVING,
    LOOKS,
    MERGED_OBJECT,
    ROUND,
    ROUND_OF_A_PARTITION,
    ROUND_THAT_EXPIRES,
    ROUND_THAT_MERGES,
    ROUND_THAT_SETTLES,
    SEGMENT_BYTES,
    SEGMENTS_IN_TIME,
    SETTLED,
    UNMERGED_S,
    Act,
)
from .bill import Line
from .calls import dynamodb_lines, s3_lines
from .load import GB, SECONDS, AppendShare, Load, by_chance
from .prices import Prices
from .sizes import ITEM_BYTES, READ, SEGMENT_ENTRY_BYTES, Crowd, Units, units

WRITES_PER_KEY = 1_000
"""DynamoDB's limit a second for one partition key, and so for one partition of a topic."""


class CommittedLoad(NamedTuple):
    """What is committed in a second, in all partitions together."""

    commits: float
    appends: Sequence[AppendShare]
    units: Units

    @property
    def objects(self) -> float:
        """The share of commits whose bytes are in an object."""
        return in_objects(self.appends) + self.units.small_put

    @property
    def settled(self) -> Act:
        act = SETTLED.times(1 + self.units.again)
        return act.plus(Act(head_writes=self.units.crowded)).times(self.commits)

    @property
    def merged(self) -> Act:
        """They become parts of segments, and so leave the index."""
        act = LEAVING.plus(
            Act(reads=LOOKS * self.units.index_read, writes=self.units.deletion_write)
        )
        return act.plus(MERGED_OBJECT.times(self.objects)).times(self.commits)


def written(
    load: Load, commits: float, appends: Sequence[AppendShare], crowd: Crowd
) -> CommittedLoad:
    if not commits:
        return CommittedLoad(0.0, [], units([], crowd))
    crowd = crowd._replace(gap_s=load.partitions / commits)
    return CommittedLoad(commits, appends, units(appends, crowd))


def alone(load: Load, messages: float, inline_bytes: int = INLINE_BYTES) -> list[AppendShare]:
    """Appends of so many messages, each of which is kept in the ledger if it is small."""
    sized = [(share, load.append_size(count)) for share, count in by_chance(messages)]
    return [AppendShare(share, size, size <= inline_bytes) for share, size in sized]


def in_objects(appends: Sequence[AppendShare]) -> float:
    return sum(append.share for append in appends if not append.inline)


def mean_size(appends: Sequence[AppendShare]) -> float:
    return sum(append.share * append.size for append in appends)


def took_s(act: Act, prices: Prices) -> float:
    """How long an act takes if its calls are made one after the other."""

    def assumed(name: str) -> float:
        return prices.number("assumed", name)

    of_heads = act.head_reads + act.head_writes + act.index_writes
    calls = (act.reads + act.writes + of_heads) * assumed("ledger_ms")
    return (calls + act.puts * assumed("put_ms") + act.gets * assumed("get_ms")) / 1000


def rounds(load: Load, made: CommittedLoad, prices: Prices) -> Act:
    """What the rounds of one janitor cost in a second, for retention and merging."""
    often = prices.number("assumed", "janitor_rounds_per_hour") / 3600
    each = steps(made.commits).plus(_looked_at(load, made))
    return ROUND.plus(each.times(load.partitions)).times(often)


def steps(commits: float) -> Act:
    """The cost of a round for one partition. What both acts include is counted once."""
    if not commits:
        return ROUND_OF_A_PARTITION
    both = ROUND_THAT_EXPIRES.plus(ROUND_THAT_MERGES).plus(ROUND_OF_A_PARTITION.times(-1))
    return both.plus(ROUND_THAT_SETTLES)


def _looked_at(load: Load, made: CommittedLoad) -> Act:
    """By retention, in the index of one partition: from its start, where the segments are."""
    large = min(_segments(load, made) / load.partitions, EXTENTS_LOOKED_AT)
    small = min(made.commits * UNMERGED_S / load.partitions, EXTENTS_LOOKED_AT - large)
    return Act(reads=large * SEGMENT_ENTRY_BYTES / READ + small * made.units.index_read)


def _segments(load: Load, made: CommittedLoad) -> float:
    if not made.commits:
        return 0.0
    return load.partitions * SEGMENTS_IN_TIME + load.kept_gb * GB / SEGMENT_BYTES


def too_hot(load: Load, used: Act, made: CommittedLoad) -> list[str]:
    """The limit on one partition: its head, its index and its producers are under one key."""
    if not made.commits:
        return []
    each = made.units.writes(used._replace(writes=0)) / made.commits
    most = WRITES_PER_KEY / each
    if made.commits / load.partitions <= most:
        return []
    needed = int(made.commits / most) + 1
    return [f"DynamoDB takes about {most:.0f} appends a second of one partition: have {needed}"]


def lines(load: Load, used: Act, made: CommittedLoad, prices: Prices) -> list[Line]:
    """`used` and `made`: in a second."""
    month = used.times(SECONDS)
    reads, writes = made.units.reads(month), made.units.writes(month)
    puts = month.puts + month.lists
    index_bytes = made.commits * UNMERGED_S * (made.units.index_bytes + ITEM_BYTES)
    index_gb = (index_bytes + _segments(load, made) * SEGMENT_ENTRY_BYTES) / GB
    per_gb = prices.cost("dynamodb", "per_gb_month", index_gb)
    recovery = prices.cost("dynamodb", "per_gb_month_recovery", index_gb)

    return [
        *dynamodb_lines(writes, reads, prices),
        Line("DynamoDB storage, recovery", f"{index_gb:,.1f} GB", per_gb + recovery),
        *s3_lines(puts, month.gets, prices),
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
