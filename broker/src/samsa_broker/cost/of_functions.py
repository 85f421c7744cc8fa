"""Samsa as functions: API Gateway's WebSocket, Lambda, DynamoDB, S3. Nothing runs when idle.

A connection has one request under way. So a producer's batches grow while it waits, and a consumer
gets all that was appended since its last fetch.
"""

from collections.abc import Sequence
from math import ceil, exp, sqrt
from typing import NamedTuple

from samsa.ports.bounds import FRUGAL_INLINE_BYTES, INLINE_BYTES
from samsa_websocket.envelope.several import MOST_TOGETHER
from samsa_websocket.envelope.sizes import HEADER_ROOM, LARGEST_INLINE, base64_size

from . import stores
from .acts import LOOK_UP, OBJECT, RETURN, Act, FunctionActs
from .bill import Bill, Line
from .calls import api_gateway_lines, lambda_lines
from .load import COMMIT_S, GB, HEARTBEAT_S, MB, SECONDS, TOPIC_FOR_S, AppendShare, Load, shared
from .prices import Prices
from .sizes import Crowd, producers_in_head, returning
from .stores import CommittedLoad, in_objects, mean_size

NAME = "Samsa, functions"
METERED = 32 * 1024
"""Bytes of a message that count as one."""
FRAME_HEADER = 100
"""About, of a produce request or a fetch response beside its batches."""
URL_BYTES = 1_500
"""About, of a range in a gather list."""
MOST_NEWS = 90 * 1024
"""Bytes of records that a wake-up brings along."""
LARGEST_UPLOAD = 4 * 1024 * 1024
"""As samsa_websocket.pushes.pushing and samsa_websocket.shim.produce_batching have them."""
MOST_PUTS_OF_A_CALL = 2
"""For any number of partitions, because appends that come during the first put share the second."""
KEPT = 2
"""Entries of a function in a head: it puts the last one into the index beside its next commit."""
TAKEN_OUT = Act(index_writes=1, head_writes=1)
"""What a function does at the end of a call whose produces lingered: it puts its entry into the
index, and takes it out of the head."""
MANY, OFTEN, RARELY = 500, 0.999, 3.1
TURNS = 20
"""Iterations until the time of a call and the messages that come during it are consistent."""
GOOD_S = 120
"""How long an idle consumer is answered by its shim."""
DAY_S = 24 * 3600
LIFE_S = 110 * 60
"""Lifetime of a connection: then the shim opens another."""
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
    calls = _calls(load, prices)
    used = [_produce(load, calls, prices), _consume(load, calls, prices), _stay(load, prices)]
    busy_s = sum(each.busy_s for each in used)
    made = _written(load, calls, environments(busy_s), prices)
    # Crowded heads cause puts; puts take time, so more functions run; these crowd the heads more.
    busy_s += stores.took_s(_small_puts(made), prices)
    made = _written(load, calls, environments(busy_s), prices)
    act = _small_puts(made).plus(made.settled).plus(made.merged)
    act = act.plus(stores.rounds(load, made, prices))
    act = act.plus(Act(reads=_look_ups(calls, environments(busy_s))))
    for each in used:
        act = act.plus(each.act)
    beyond = [text for each in used for text in each.beyond]
    beyond += stores.too_hot(load, act, made)
    if act.invocations > MESSAGES_IN:
        beyond.append(f"an account's {MESSAGES_IN:,} messages a second, unless raised")
    if busy_s > AT_ONCE:
        beyond.append(f"an account's {AT_ONCE:,} functions at a time, unless raised")
    lines = [
        *_api_gateway(load, act, prices),
        *_lambda(act, busy_s, _janitor_s(load, made, prices), prices),
        *stores.lines(load, act, made, prices),
        _recovery(load, made, prices),
        _cloudwatch(act, prices),
        *stores.to_internet(load, prices, _blown_up(load, calls, prices)),
    ]
    return Bill(NAME, lines, beyond)


class Calls(NamedTuple):
    """Produce messages of all producers in a second. Each is one call of the function."""

    calls: float
    messages: float
    """Kafka messages in one call."""
    partitions: float
    """Partitions that one call commits to."""
    appends: Sequence[AppendShare]
    """What these partitions get."""
    size: float
    """Bytes of one call."""

    @property
    def commits(self) -> float:
        return self.calls * self.partitions


NO_CALLS = Calls(0.0, 0.0, 0.0, (), 0.0)


def _calls(load: Load, prices: Prices) -> Calls:
    """Requests that come during a call, or while the shim lets a produce wait, join the next call:
    up to five. More only make the batches of the client larger."""
    if not load.messages_per_second:
        return NO_CALLS
    each = load.messages_per_second / load.producers
    requests = load.batches(load.linger_ms / 1000) / load.producers
    found = NO_CALLS
    for _ in range(TURNS):
        answer_s = _answer_s(load, found, prices)
        together = 1 + requests * max(load.shim_linger_ms / 1000, answer_s)
        calls = requests / min(MOST_TOGETHER, together)
        if calls * answer_s > 1:
            calls = 1 / answer_s
        messages = each / calls
        partitions = load.partitions_of(messages, 1, load.partitions)
        inline_bytes = FRUGAL_INLINE_BYTES if load.shim_linger_ms else INLINE_BYTES
        appends = stores.alone(load, messages / partitions, inline_bytes)
        size = FRAME_HEADER + partitions * mean_size(appends)
        found = Calls(calls * load.producers, messages, partitions, appends, size)
    return found


def _answer_s(load: Load, calls: Calls, prices: Prices) -> float:
    """How long a producer waits for the answer. The partitions of a call are committed in parallel.
    Wake-ups are pushed before the answer; that takes about as long as a call of DynamoDB."""
    act = _append(load).plus(OBJECT.times(in_objects(calls.appends)))
    if calls.size > LARGEST_INLINE:
        act = act.plus(Act(gets=1))
    if load.shim_linger_ms:
        act = act.plus(TAKEN_OUT)  # wake-ups are pushed at the same time
    elif load.reading:
        act = act.plus(Act(writes=1))
    return _busy_s(act, prices) + _moving_s(calls.size, prices)


def _written(load: Load, calls: Calls, functions: float, prices: Prices) -> CommittedLoad:
    producers = producers_in_head(_producers(load), _gap_s(load, calls))
    watchers = load.groups if load.reading else 0
    if load.shim_linger_ms:
        stays_s = stores.took_s(TAKEN_OUT, prices)
        crowd = Crowd(producers, watchers, at_once=True, stays_s=stays_s)
    else:
        crowd = Crowd(producers, watchers, functions, KEPT)
    return stores.written(load, calls.commits, calls.appends, crowd)


def _look_ups(calls: Calls, functions: float) -> float:
    """Look-ups of one topic by produce calls: each function repeats its look-up now and then."""
    return functions * shared(calls.calls / functions, TOPIC_FOR_S)


def _small_puts(made: CommittedLoad) -> Act:
    return OBJECT.times(made.commits * made.units.small_put)


def environments(busy_s: float) -> float:
    """Environments of the function: enough for all but one of a thousand moments."""
    if busy_s > MANY:
        return busy_s + RARELY * sqrt(busy_s)
    count, share = 0, exp(-busy_s)
    below = share
    while below < OFTEN:
        count += 1
        share *= busy_s / count
        below += share
    return max(1, count)


def _append(load: Load) -> Act:
    return FunctionActs.APPEND if load.idempotent else FunctionActs.PLAIN_APPEND


def _producers(load: Load) -> int:
    return load.producers if load.idempotent else 0


def _gap_s(load: Load, calls: Calls) -> float:
    """Between two appends of one producer to one partition."""
    return load.producers * load.partitions / calls.commits if calls.commits else 0.0


def _busy_s(act: Act, prices: Prices) -> float:
    return stores.took_s(act, prices) + prices.number("assumed", "own_ms") / 1000


def _moving_s(size: float, prices: Prices) -> float:
    return size / MB * prices.number("assumed", "mb_ms") / 1000


def _units(size: float) -> int:
    """How many messages are billed for one that carries so many bytes of Kafka."""
    return ceil((base64_size(ceil(size)) + HEADER_ROOM) / METERED)


def _produce(load: Load, calls: Calls, prices: Prices) -> Usage:
    if not calls.calls:
        return Usage(Act(), 0.0, [])
    first, each = _append(load)._replace(reads=0), FunctionActs.PARTITION_APPENDED
    if not load.idempotent:
        each = each._replace(head_reads=0)
    call = first.plus(each.times(calls.partitions - 1))
    call = call._replace(messages=_units(calls.size) + 1)
    each_s = _answer_s(load, calls, prices)
    if calls.size > LARGEST_INLINE:
        call = call._replace(messages=2).plus(FunctionActs.UPLOAD)
        each_s += _busy_s(Act(), prices)
    large = in_objects(calls.appends) * calls.partitions
    put = OBJECT.times(min(large, MOST_PUTS_OF_A_CALL))
    act = call.plus(put).times(calls.calls)
    gap = returning(_producers(load), _gap_s(load, calls))
    act = act.plus(RETURN.times(calls.commits * gap))
    most = min(LARGEST_UPLOAD, MOST_TOGETHER * load.partitions * load.batch_bytes)
    beyond = []
    if calls.messages * load.size > most:
        needed = ceil(load.producers * calls.messages * load.size / most)
        beyond.append(
            f"{load.producers} producers with one message under way each: have {needed:,}, "
            "or larger batches"
        )
    return Usage(act, calls.calls * each_s, beyond)


class ReadingRates(NamedTuple):
    """Of one consumer, in a second."""

    told: float
    """Appends whose records are pushed to it while it waits."""
    called: float
    """Appends that are too large for a push: the push only says that they are there."""
    parks: float
    fetches: float
    """Fetches that find records."""
    size: float
    """Bytes of one such fetch."""
    appends: float
    """Messages in one such fetch."""

    @property
    def gathered(self) -> bool:
        return self.size > LARGEST_INLINE


def _reading(load: Load, calls: Calls, prices: Prices) -> ReadingRates:
    """A consumer that waits at the end gets each append pushed, and goes on waiting. Two appends at
    the same time may overtake each other: then it fetches, and waits again."""
    if not load.reading or not calls.commits:
        return ReadingRates(0.0, 0.0, 1 / GOOD_S, 0.0, 0.0, 0.0)
    each = calls.commits * load.groups / load.reading
    batch = mean_size(calls.appends)
    if batch <= MOST_NEWS:
        in_one = calls.commits / load.partitions * _busy_s(Act(writes=1), prices)
        asked = each * in_one / (1 + in_one)
        return ReadingRates(each, 0.0, max(asked, 1 / GOOD_S), asked, FRAME_HEADER + batch, 1.0)
    read_s, park_s = (_busy_s(act, prices) for act in (FunctionActs.READ, FunctionActs.PARK))
    # Appends that come during its fetch are found by the fetch, and cause no push.
    found = each * park_s / (1 + each * park_s)
    fetches = 1 / (read_s + (1 - found) * (park_s + 1 / each))
    waves = fetches * (1 - found)
    return ReadingRates(
        0.0, waves, waves, fetches, FRAME_HEADER + each / fetches * batch, each / fetches
    )


def _consume(load: Load, calls: Calls, prices: Prices) -> Usage:
    if not load.reading:
        return Usage(Act(), 0.0, [])
    reading, more = _reading(load, calls, prices), load.partitions_each - 1
    size = reading.appends * URL_BYTES if reading.gathered else reading.size
    read = FunctionActs.READ.plus(FunctionActs.PARTITION_READ.times(more)).plus(LOOK_UP)
    read = read._replace(messages=1 + _units(size))
    read = read.plus(Act(gets=reading.appends * in_objects(calls.appends)))
    park = FunctionActs.PARK.plus(FunctionActs.PARTITION_PARKED.times(more))
    wake = FunctionActs.WAKE._replace(messages=_units(mean_size(calls.appends)))
    act = read.times(reading.fetches).plus(park.times(reading.parks))
    act = act.plus(wake.times(reading.told)).plus(FunctionActs.CALL.times(reading.called))
    read_s = _busy_s(FunctionActs.READ, prices)
    busy_s = reading.fetches * (read_s + _moving_s(size, prices))
    busy_s += reading.parks * _busy_s(FunctionActs.PARK, prices)
    return Usage(act.times(load.reading), busy_s * load.reading, [])


def _stay(load: Load, prices: Prices) -> Usage:
    """What connected clients cost without any records: heartbeats, commits, new connections."""
    beats, commits = load.consumers / HEARTBEAT_S, load.consumers / COMMIT_S
    opened = load.connections / LIFE_S
    act = FunctionActs.BEAT.times(beats).plus(FunctionActs.COMMIT.times(commits))
    act = act.plus(FunctionActs.CONNECT.plus(FunctionActs.DISCONNECT).times(opened))
    busy_s = beats * _busy_s(FunctionActs.BEAT, prices) + commits * _busy_s(
        FunctionActs.COMMIT, prices
    )
    return Usage(act, busy_s, [])


def _blown_up(load: Load, calls: Calls, prices: Prices) -> float:
    """Base64 makes four bytes of three; ranges of a gather list come from S3 without it."""
    return 1.0 if _reading(load, calls, prices).gathered else 4 / 3


def _api_gateway(load: Load, act: Act, prices: Prices) -> list[Line]:
    messages = act.messages * SECONDS
    minutes = load.connections * SECONDS / 60
    return api_gateway_lines(messages, minutes, prices)


def _janitor_s(load: Load, made: CommittedLoad, prices: Prices) -> float:
    """Units in a second. Appends are read and removed many at a time: only their bytes take
    long."""
    often = prices.number("assumed", "janitor_rounds_per_hour") / 3600
    of_all = load.partitions * stores.took_s(stores.steps(made.commits), prices)
    own_s = prices.number("assumed", "own_ms") / 1000
    return often * (own_s + of_all) + _moving_s(load.bytes_per_second, prices)


def _lambda(act: Act, busy_s: float, janitor_s: float, prices: Prices) -> list[Line]:
    def assumed(name: str) -> float:
        return prices.number("assumed", name)

    rounds = assumed("janitor_rounds_per_hour") * SECONDS / 3600
    requests = act.invocations * SECONDS + rounds
    gb_s = busy_s * SECONDS * assumed("function_memory_gb")
    gb_s += janitor_s * SECONDS * assumed("janitor_memory_gb")
    return lambda_lines(requests, gb_s, prices)


def _recovery(load: Load, made: CommittedLoad, prices: Prices) -> Line:
    """Old versions of swept objects: segments when they have aged out, appends when merged."""
    days = prices.number("assumed", "recovery_days")
    swept = 1 + made.objects
    swept_gb = swept * load.bytes_per_second * days * DAY_S / GB
    cost = prices.cost("s3", "per_gb_month", swept_gb)
    return Line("S3 storage, recovery", f"{swept_gb:,.1f} GB", cost)


def _cloudwatch(act: Act, prices: Prices) -> Line:
    logs_gb = act.invocations * SECONDS * prices.number("assumed", "log_bytes") / GB
    cost = prices.cost("cloudwatch", "per_gb_logs", logs_gb)
    alarms = prices.number("assumed", "alarms")
    cost += prices.cost("cloudwatch", "per_alarm_month", alarms)
    return Line("CloudWatch logs, alarms", f"{logs_gb:,.1f} GB, {alarms:.0f} alarms", cost)
