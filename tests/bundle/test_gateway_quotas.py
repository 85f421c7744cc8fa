"""Functions hold clients to their quotas together, and say so in their answers."""

import asyncio
import logging
from typing import Any

import pytest
from bundle.closed import ADMIN, GRETE, readable
from bundle.given_gateway import Client, Cluster, frame_of, row_of
from bundle.limited import GRETES, LimitedCluster
from bundle.talk import TOPIC, look, values_in
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.ports import NotDone, Unavailable
from samsa.security.aws_principals import principal_of_arn
from samsa.security.kinds import Operation
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import alter_client_quotas as alter
from samsa.wire.messages import create_topics
from samsa_websocket.envelope import ParkedReply, Reply, Request, joined
from samsa_websocket.gateway import Gateway, quota_sharing
from samsa_websocket.gateway.quota_sharing import MOST_IN_A_SECOND
from samsa_websocket.gateway.quotas import MOST_RATES, GatewayQuotas

KB = 1000


@pytest.fixture
def closed(cluster: Cluster) -> LimitedCluster:
    return LimitedCluster(cluster)


@pytest.fixture
def one(closed: LimitedCluster) -> Client:
    return closed.grete(closed.another())


@pytest.fixture
def other(closed: LimitedCluster) -> Client:
    """The same user at another function."""
    return closed.grete(closed.another())


def produced(client: Client, size: int, acks: int = -1) -> tuple[int, int]:
    """For how long the client is throttled, and its shim is to mute it."""
    answer = client.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x" * size), acks=acks))
    assert isinstance(answer, Reply), answer
    if not acks:
        assert not len(answer.frame)
        return 0, answer.mute_ms
    row = row_of(ApiKey.PRODUCE, PRODUCE, answer)
    assert row.responses[0].partition_responses[0].error_code == 0
    return row.throttle_time_ms, answer.mute_ms


def fetched(client: Client, offset: int = 0, **more: Any) -> tuple[int, int]:
    """The bytes of records, and for how long it is throttled."""
    row = client.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, offset, **more))
    pieces = [p.records for t in row.responses for p in t.partitions]
    return sum(len(piece or b"") for piece in pieces), row.throttle_time_ms


def quotas_of(gateway: Gateway) -> GatewayQuotas:
    found = gateway._kafka._quotas
    assert found is not None
    return found


def fill(closed: LimitedCluster, count: int, size: int) -> None:
    for _ in range(count):
        produced(closed.admin, size)


# Producers


def test_two_functions_hold_a_producer_to_its_quota_together(
    closed: LimitedCluster, one: Client, other: Client
):
    closed.limit(GRETES, producer_byte_rate=10 * KB)
    assert produced(one, 60 * KB) == (0, 0)
    throttle_ms, mute_ms = produced(other, 60 * KB)
    assert 2_000 <= throttle_ms < 2_100
    assert mute_ms == throttle_ms
    closed.a_moment_later()
    assert produced(one, 0)[0] > 0


def test_clients_that_wait_as_told_have_no_more_than_the_quota(
    closed: LimitedCluster, one: Client, other: Client
):
    closed.limit(GRETES, producer_byte_rate=10 * KB)
    start, sent = closed.clock.now_ms(), 0
    silent_until = {one: start, other: start}
    while closed.clock.now_ms() - start < 30_000:
        for client, until in silent_until.items():
            if closed.clock.now_ms() >= until:
                silent_until[client] = closed.clock.now_ms() + produced(client, 20 * KB)[1]
                sent += 20 * KB
        closed.a_moment_later(500)
    assert 10 * KB * 20 < sent <= 10 * KB * (30 + 11) + 2 * 20 * KB


def test_other_users_are_not_throttled(closed: LimitedCluster, one: Client):
    closed.limit(GRETES, producer_byte_rate=1)
    assert produced(one, KB)[1] > 60_000
    assert produced(closed.clerk(one.gateway), 50 * KB) == (0, 0)


def test_a_produce_without_an_answer_is_muted_too(closed: LimitedCluster, one: Client):
    closed.limit(GRETES, producer_byte_rate=1)
    assert produced(one, KB, acks=0)[1] > 60_000


def test_of_produces_that_come_together_each_says_its_own_and_the_longest_mutes(
    closed: LimitedCluster, one: Client
):
    closed.limit({"client-id": "slow"}, producer_byte_rate=1)
    row = produce_row(TOPIC, batch(b"x" * KB))
    names = ("quick", "slow", None)
    frames = [frame_of(ApiKey.PRODUCE, PRODUCE, row, name) for name in names]
    one.seq += 1
    answer = one.say(Request(one.seq, b"".join(joined(tuple(frames))), several=True))
    assert isinstance(answer, Reply)
    view, waits = memoryview(answer.frame), []
    while len(view):
        size = 4 + int.from_bytes(view[:4], "big")
        waits.append(row_of(ApiKey.PRODUCE, PRODUCE, Reply(1, view[4:size])).throttle_time_ms)
        view = view[size:]
    assert waits[0] == waits[2] == 0
    assert waits[1] == answer.mute_ms > 60_000


def test_a_default_holds_for_each_client_by_itself(closed: LimitedCluster, one: Client):
    closed.limit({"client-id": None}, producer_byte_rate=KB)
    for name in ("first", "second"):
        one.client_id = name
        assert produced(one, 9 * KB) == (0, 0)
        assert produced(one, 2 * KB)[0] > 0


@pytest.mark.parametrize("name", ["x" * 10_000, "ключ\0💥\u202e", "#", '"'], ids=ascii)
def test_any_client_id_is_limited_and_by_itself(
    closed: LimitedCluster, one: Client, other: Client, name: str
):
    closed.limit({"client-id": None}, producer_byte_rate=10 * KB)
    one.client_id = other.client_id = name
    assert produced(one, 80 * KB) == (0, 0)
    assert produced(other, 30 * KB)[0] > 0
    other.client_id = name[:-1] + "y"
    assert produced(other, 30 * KB) == (0, 0)


@pytest.mark.parametrize("name", ["", None])
def test_a_client_without_an_id_has_only_the_quotas_of_users(
    closed: LimitedCluster, one: Client, name: str | None
):
    closed.limit({"client-id": None}, producer_byte_rate=1)
    one.client_id = name
    assert produced(one, 9 * KB) == (0, 0)
    closed.limit({"user": None}, producer_byte_rate=1)
    assert produced(one, 9 * KB)[0] > 0


def test_made_up_client_ids_cost_a_bounded_number_of_updates_and_memory(
    closed: LimitedCluster, one: Client
):
    closed.limit({"client-id": None}, producer_byte_rate=KB)
    for number in range(3 * MOST_IN_A_SECOND):
        one.client_id = f"made-up-{number}"
        assert produced(one, 1) == (0, 0)
    quotas = quotas_of(one.gateway)
    assert quotas.usage.calls["add"] == MOST_IN_A_SECOND
    closed.a_moment_later()
    produced(one, 1)
    assert quotas.usage.calls["add"] == MOST_IN_A_SECOND + 1
    for number in range(2 * MOST_RATES):
        quotas.throttling.record("producer_byte_rate", "eve", f"more-{number}", 1)
    assert len(quotas.throttling) == MOST_RATES


def test_a_quota_that_is_removed_throttles_nobody(closed: LimitedCluster, one: Client):
    closed.limit(GRETES, producer_byte_rate=1)
    assert produced(one, KB)[0] > 0
    entity = [alter.ENTITY(entity_type="user", entity_name=GRETES["user"])]
    gone = alter.ENTRY(entity=entity, ops=[alter.OP(key="producer_byte_rate", remove=True)])
    closed.admin.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, alter.REQUEST(entries=[gone]))
    closed.a_moment_later()
    assert produced(one, KB) == (0, 0)


def test_a_clock_that_goes_back_throttles_nobody_for_ever(closed: LimitedCluster, one: Client):
    closed.limit(GRETES, producer_byte_rate=KB)
    assert produced(one, 60 * KB)[0] > 0
    closed.clock.ahead_ms -= 60_000
    assert produced(one, KB) == (0, 0)
    assert produced(one, 20 * KB)[0] in range(9_000, 13_000)


def test_request_time_is_not_limited(closed: LimitedCluster, one: Client):
    closed.limit(GRETES, request_percentage=1e-9)
    assert produced(one, KB) == (0, 0)
    assert readable(one) == 0


# Consumers


def test_two_functions_hold_a_consumer_to_its_quota_together(
    closed: LimitedCluster, one: Client, other: Client
):
    fill(closed, 4, 10 * KB)
    closed.limit(GRETES, consumer_byte_rate=KB)
    size, throttle_ms = fetched(one)
    assert throttle_ms == 0
    assert 10 * KB <= size < 20 * KB, "more than the quota of ten seconds in one answer"
    size, throttle_ms = fetched(other, 1)
    assert size == 0
    assert throttle_ms > 10_000


def test_a_fetch_is_refused_by_what_is_learned_after_its_handler(
    closed: LimitedCluster, one: Client, other: Client, monkeypatch: pytest.MonkeyPatch
):
    fill(closed, 4, 10 * KB)
    closed.limit(GRETES, consumer_byte_rate=KB)
    assert readable(other, 4) == 0
    usage = quotas_of(other.gateway).usage
    plain = usage.add

    async def add_late(*told: Any) -> Any:
        await asyncio.sleep(0.2)
        return await plain(*told)

    monkeypatch.setattr(usage, "add", add_late)
    closed.a_moment_later()
    fetched(one)
    size, throttle_ms = fetched(other, 1)
    assert size == 0
    assert throttle_ms > 5_000


def test_small_fetches_are_told_once_a_second_and_add_up(
    closed: LimitedCluster, one: Client, other: Client
):
    """Each of the two alone would be within the quota."""
    fill(closed, 1, 229)
    closed.limit(GRETES, consumer_byte_rate=KB)
    waits = []
    for _ in range(30):
        waits += [fetched(client)[1] for client in (one, other)]
        closed.a_moment_later(340)
    assert max(waits[:30]) == 0
    assert max(waits) > 0
    for client in (one, other):
        assert quotas_of(client.gateway).usage.calls["add"] <= 11


def test_a_fetch_over_the_quota_is_answered_at_once_and_not_parked(
    closed: LimitedCluster, one: Client
):
    fill(closed, 1, 15 * KB)
    fill(closed, 1, KB)
    closed.limit(GRETES, consumer_byte_rate=KB)
    fetched(one)
    answer = look(one, 1, wait_ms=5_000, min_bytes=5 * KB)
    assert isinstance(answer, Reply)
    row = row_of(ApiKey.FETCH, FETCH, answer)
    assert row.responses == []
    assert answer.mute_ms == row.throttle_time_ms > 5_000


def test_a_fetch_at_the_end_of_its_partition_is_parked_whatever_was_read_before(
    closed: LimitedCluster, one: Client
):
    fill(closed, 1, 50 * KB)
    closed.limit(GRETES, consumer_byte_rate=KB)
    assert fetched(one)[1] == 0
    assert isinstance(look(one, 1, wait_ms=500), ParkedReply)


def test_what_is_found_and_not_sent_because_the_fetch_is_parked_is_not_counted(
    closed: LimitedCluster, one: Client
):
    fill(closed, 1, 5 * KB)
    closed.limit(GRETES, consumer_byte_rate=KB)
    for waited in range(0, 500, 50):
        again = waited > 0
        answer = look(one, 0, wait_ms=500, min_bytes=6 * KB, again=again, waited=waited)
        assert isinstance(answer, ParkedReply)
    assert fetched(one)[0] > 0


def test_what_is_cut_from_an_answer_is_not_counted(closed: LimitedCluster, one: Client):
    """One message holds 98 KB, and ranges that are as small as these are sent inline."""
    fill(closed, 40, 5 * KB)
    closed.limit(GRETES, consumer_byte_rate=25 * KB)
    offset, sent = 0, 0
    for _ in range(2):
        row = one.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, offset, max_bytes=10**7))
        assert row.throttle_time_ms == 0
        offset += len(values_in(row))
        sent += len(row.responses[0].partitions[0].records)
    assert 150 * KB < sent < 200 * KB


# Mutations


def create(client: Client, name: str, partitions: int, version: int = 7) -> tuple[int, int]:
    asked = create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=-1)
    answer = client.ask(ApiKey.CREATE_TOPICS, version, create_topics.REQUEST(topics=[asked]))
    return answer.topics[0].error_code, answer.throttle_time_ms


def test_functions_hold_mutations_to_one_quota_until_the_last_debt_is_paid(
    closed: LimitedCluster, one: Client, other: Client
):
    closed.allow(GRETE, Operation.CREATE, name="*")
    closed.limit(GRETES, controller_mutation_rate=1)
    assert create(one, "a", 60) == (0, 0)
    for wait_ms in (49_000, 29_000, 1):
        for client in (one, other):
            assert create(client, "b", 1) == (ErrorCode.THROTTLING_QUOTA_EXCEEDED, wait_ms)
        closed.a_moment_later(20_000 if wait_ms > 30_000 else wait_ms - 1 or 1)
    assert create(other, "b", 1) == (0, 0)


def test_an_older_admin_is_refused_nothing_and_told_to_wait(closed: LimitedCluster, one: Client):
    closed.allow(GRETE, Operation.CREATE, name="*")
    closed.limit(GRETES, controller_mutation_rate=1)
    assert create(one, "a", 12, version=5) == (0, 1_000)


# Connections


def test_an_address_that_connects_too_fast_is_refused_by_all_functions(
    closed: LimitedCluster, one: Client, other: Client
):
    closed.limit({"ip": "198.51.100.9"}, connection_creation_rate=1)
    readable(one)
    readable(other)
    codes = []
    for number in range(14):
        client = Client((one, other)[number % 2].gateway, GRETE)
        client.source = "198.51.100.9"
        codes.append(client.connect()["statusCode"])
        closed.a_moment_later(100)
        readable(one), readable(other)
    assert codes[:10] == [200] * 10
    assert codes[11:].count(429) >= 2
    assert Client(one.gateway, GRETE).connect()["statusCode"] == 200


# The store of what was counted

BROKEN = [Unavailable("not now"), NotDone("throttled"), ValueError("nobody named it"), None]


@pytest.mark.parametrize("error", BROKEN, ids=str)
def test_while_counts_cannot_be_shared_each_function_goes_by_its_own(
    closed: LimitedCluster,
    one: Client,
    error: Exception | None,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    """None: the store does not answer at all."""
    monkeypatch.setattr(quota_sharing, "WAIT_S", 0.02)
    closed.allow(GRETE, Operation.CREATE, name="*")
    closed.limit(GRETES, producer_byte_rate=10 * KB, controller_mutation_rate=1)
    closed.limit({"ip": "198.51.100.9"}, connection_creation_rate=100)
    assert produced(one, 1) == (0, 0)
    usage = quotas_of(one.gateway).usage

    waited = []

    async def fails(*_: Any) -> Any:
        if error is None:
            await asyncio.sleep(1)
            waited.append(True)
        raise error or AssertionError

    for name in ("add", "full_at", "take"):
        monkeypatch.setattr(usage, name, fails)
    for _ in range(5):
        closed.a_moment_later()
        assert produced(one, 15 * KB) == (0, 0)
    closed.a_moment_later()
    assert 0 < produced(one, 60 * KB)[0] < 10_000
    assert create(one, "a", 60) == (0, 0)
    assert create(one, "b", 60)[0] == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    client = Client(one.gateway, GRETE)
    client.source = "198.51.100.9"
    assert client.connect()["statusCode"] == 200
    lines = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert [each.getMessage() for each in lines] == ["quotas are not shared with others"]
    assert not waited


def test_a_handler_that_fails_leaves_no_update_running(
    closed: LimitedCluster, one: Client, monkeypatch: pytest.MonkeyPatch
):
    closed.limit(GRETES, producer_byte_rate=10 * KB)
    assert produced(one, 1) == (0, 0)
    closed.a_moment_later()

    async def fails(*_: Any) -> Any:
        raise Unavailable("not now")

    monkeypatch.setattr(one.gateway._kafka, "_begin", fails)
    one.send(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"x")))
    assert asyncio.all_tasks(one.gateway._loop) == set()


def test_super_users_are_limited_like_all_others(closed: LimitedCluster):
    closed.limit({"user": principal_of_arn(ADMIN).name}, producer_byte_rate=1)
    assert produced(closed.admin, KB)[0] > 0
