"""Samsa as functions: API Gateway's WebSocket, Lambda, DynamoDB, S3. Nothing runs when idle.

A connection has one request under way. So a producer's batches grow while it waits, and whoever
reads gets all that was appended since it last looked.
"""

from math import ceil
from typing import NamedTuple

from samsa.envelope.sizes import HEADER_ROOM, LARGEST_INLINE, base64_size

from . import stores
from .acts import MERGED, Act, Functions
from .bill import Bill, Line, counted
from .load import COMMIT_S, GB, HEARTBEAT_S, MB, SECONDS, Load, shared
from .prices import Prices

NAME = "Samsa, functions"
METERED = 32 * 1024
"""Bytes of a message that count as one."""
FRAME_HEADER = 100
"""About, of a produce request or a fetch response beside its batches."""
WORTH_A_URL = 16 * 1024
URL_BYTES = 1_500
INLINE_RECORDS = LARGEST_INLINE - 8 * 1024
"""As samsa.gateway.replies has them."""
GOOD_S = 120
"""How long an idle consumer is answered by its shim."""
DAY_S = 24 * 3600
SWEPT = 2
"""How often each byte is swept: when its append is merged, and when its segment is old."""
LIFE_S = 110 * 60
"""Of a connection: then the shim makes another."""
MESSAGES_IN = 10_000
AT_ONCE = 1_000
"""An account's limits on messages in a second, and on functions at a time, unless raised."""


class Usage(NamedTuple):
    """In a second."""

    act: Act
    busy_s: float
    """Of all functions together."""
    beyond: list[str]


def functions(load: Load, prices: Prices) -> Bill:
    used = [_produce(load, prices), _consume(load, prices), _stay(load, prices)]
    slots = appends(load, prices)
    act = stores.rounds(load, slots, prices).plus(MERGED.times(slots))
    for each in used:
        act = act.plus(each.act)
    busy_s = sum(each.busy_s for each in used)
    beyond = [text for each in used for text in each.beyond]
    beyond += stores.too_hot(load, slots, _append(load).writes + MERGED.writes)
    if act.invocations > MESSAGES_IN:
        beyond.append(f"an account's {MESSAGES_IN:,} messages a second, unless raised")
    if busy_s > AT_ONCE:
        beyond.append(f"an account's {AT_ONCE:,} functions at a time, unless raised")
    lines = [
        *_api_gateway(load, act, prices),
        *_lambda(act, busy_s, _janitor_s(load, slots, prices), prices),
        *stores.lines(load, act, slots, prices),
        _recovery(load, prices),
        _cloudwatch(act, prices),
        *stores.to_internet(load, prices, _blown_up(load, prices)),
    ]
    return Bill(NAME, lines, beyond)


def appends(load: Load, prices: Prices) -> float:
    """A second: each batch is one."""
    return load.batches(_window_s(load, prices))


def _append(load: Load) -> Act:
    return Functions.APPEND if load.idempotent else Functions.PLAIN_APPEND


def _busy_s(act: Act, prices: Prices) -> float:
    return stores.took_s(act, prices) + prices.number("assumed", "own_ms") / 1000


def _moving_s(size: float, prices: Prices) -> float:
    return size / MB * prices.number("assumed", "mb_ms") / 1000


def _window_s(load: Load, prices: Prices) -> float:
    return max(load.linger_ms / 1000, _busy_s(_append(load), prices))


def _units(size: float) -> int:
    """What a message is counted as that carries so many bytes of Kafka."""
    return ceil((base64_size(ceil(size)) + HEADER_ROOM) / METERED)


def _produce(load: Load, prices: Prices) -> Usage:
    batches, append = appends(load, prices), _append(load)
    if not batches:
        return Usage(Act(), 0.0, [])
    answer_s = _busy_s(append, prices)
    requests = min(batches, load.producers / answer_s) if answer_s else batches
    size = FRAME_HEADER + batches / requests * load.batch_size(_window_s(load, prices))
    request = Act(messages=_units(size) + 1, invocations=1)
    each_s = answer_s + _moving_s(size, prices)
    if size > LARGEST_INLINE:
        request = Act(messages=2, invocations=1).plus(Functions.UPLOAD)
        each_s += _busy_s(Act(gets=1), prices) + _moving_s(size, prices)
    act = append._replace(messages=0, invocations=0).times(batches).plus(request.times(requests))
    beyond = []
    if batches / requests > load.partitions:
        needed = ceil(batches * answer_s / load.partitions)
        beyond.append(
            f"{load.producers} producers with one request under way each: have {needed:,}, "
            "or larger batches"
        )
    return Usage(act, requests * each_s, beyond)


class Reading(NamedTuple):
    """Of one consumer, in a second."""

    appends: float
    waves: float
    """Times that it is woken and reads what there is."""
    fetches: float
    size: float
    """Bytes of a fetch."""

    @property
    def appends_each(self) -> float:
        return self.appends / self.fetches if self.fetches else 0.0

    @property
    def gathered(self) -> bool:
        return self.size > LARGEST_INLINE


def _reading(load: Load, prices: Prices) -> Reading:
    if not load.reading or not load.messages_per_second:
        return Reading(0.0, 0.0, 0.0, 0.0)
    each = appends(load, prices) * load.groups / load.reading
    cycle_s = _busy_s(Functions.READ, prices) + _busy_s(Functions.PARK, prices)
    waves = shared(each, cycle_s)
    batch = load.batch_size(_window_s(load, prices))
    waiting = each / waves * batch
    small = batch < WORTH_A_URL and waiting > LARGEST_INLINE
    fetches = waves * waiting / INLINE_RECORDS if small else waves
    return Reading(each, waves, fetches, FRAME_HEADER + each * batch / fetches)


def _consume(load: Load, prices: Prices) -> Usage:
    if not load.reading:
        return Usage(Act(), 0.0, [])
    reading, more = _reading(load, prices), load.partitions_each - 1
    size = reading.appends_each * URL_BYTES if reading.gathered else reading.size
    read = Functions.READ.plus(Functions.PARTITION_READ.times(more))
    queries = max(0.0, min(load.partitions_each, reading.appends_each) - 1)
    read = read._replace(reads=read.reads + queries, gets=0, messages=1 + _units(size))
    park = Functions.PARK.plus(Functions.PARTITION_PARKED.times(more))
    parks = max(reading.waves, 1 / GOOD_S)
    act = read.times(reading.fetches).plus(park.times(parks))
    act = act.plus(Functions.WAKE.times(reading.waves)).plus(Act(gets=reading.appends))
    read_s = _busy_s(Functions.READ, prices)
    busy_s = reading.fetches * (read_s + _moving_s(size, prices))
    busy_s += parks * _busy_s(Functions.PARK, prices)
    beyond = []
    if reading.fetches * read_s > 1:
        needed = ceil(load.reading * reading.fetches * read_s)
        beyond.append(
            f"{load.reading} consumers cannot read so much: have {needed:,} with partitions"
        )
    return Usage(act.times(load.reading), busy_s * load.reading, beyond)


def _stay(load: Load, prices: Prices) -> Usage:
    """What clients cost by being there: heartbeats, commits, new connections."""
    beats, commits = load.consumers / HEARTBEAT_S, load.consumers / COMMIT_S
    opened = load.connections / LIFE_S
    act = Functions.BEAT.times(beats).plus(Functions.COMMIT.times(commits))
    act = act.plus(Functions.CONNECT.plus(Functions.DISCONNECT).times(opened))
    busy_s = beats * _busy_s(Functions.BEAT, prices) + commits * _busy_s(Functions.COMMIT, prices)
    return Usage(act, busy_s, [])


def _blown_up(load: Load, prices: Prices) -> float:
    """Base64 makes four bytes of three; what is gathered comes from S3 as it is."""
    return 1.0 if _reading(load, prices).gathered else 4 / 3


def _api_gateway(load: Load, act: Act, prices: Prices) -> list[Line]:
    messages = act.messages * SECONDS
    minutes = load.connections * SECONDS / 60
    section = "api_gateway"
    return [
        Line(
            "API Gateway messages",
            counted(messages, "of 32 KB"),
            prices.cost(section, "per_million_messages", messages / stores.MILLION),
        ),
        Line(
            "API Gateway connections",
            counted(minutes, "minutes"),
            prices.cost(section, "per_million_connection_minutes", minutes / stores.MILLION),
        ),
    ]


def _janitor_s(load: Load, slots: float, prices: Prices) -> float:
    """In a second. Appends are got and removed many at a time: it is their bytes that take long."""
    often = prices.number("assumed", "janitor_rounds_per_hour") / 3600
    of_all = load.partitions * stores.took_s(stores.steps(slots), prices)
    own_s = prices.number("assumed", "own_ms") / 1000
    return often * (own_s + of_all) + _moving_s(load.bytes_per_second, prices)


def _lambda(act: Act, busy_s: float, janitor_s: float, prices: Prices) -> list[Line]:
    def assumed(name: str) -> float:
        return prices.number("assumed", name)

    rounds = assumed("janitor_rounds_per_hour") * SECONDS / 3600
    requests = act.invocations * SECONDS + rounds
    gb_s = busy_s * SECONDS * assumed("function_memory_gb")
    gb_s += janitor_s * SECONDS * assumed("janitor_memory_gb")
    return [
        Line(
            "Lambda requests",
            counted(requests, "requests"),
            prices.cost("lambda", "per_million_requests", requests / stores.MILLION),
        ),
        Line("Lambda time", counted(gb_s, "GB-s"), prices.cost("lambda", "per_gb_second", gb_s)),
    ]


def _recovery(load: Load, prices: Prices) -> Line:
    """The versions of swept objects."""
    days = prices.number("assumed", "recovery_days")
    swept_gb = SWEPT * load.bytes_per_second * days * DAY_S / GB
    cost = prices.cost("s3", "per_gb_month", swept_gb)
    return Line("S3 storage, recovery", f"{swept_gb:,.1f} GB", cost)


def _cloudwatch(act: Act, prices: Prices) -> Line:
    logs_gb = act.invocations * SECONDS * prices.number("assumed", "log_bytes") / GB
    cost = prices.cost("cloudwatch", "per_gb_logs", logs_gb)
    alarms = prices.number("assumed", "alarms")
    cost += prices.cost("cloudwatch", "per_alarm_month", alarms)
    return Line("CloudWatch logs, alarms", f"{logs_gb:,.1f} GB, {alarms:.0f} alarms", cost)
