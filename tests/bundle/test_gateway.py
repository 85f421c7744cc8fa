"""The gateway function: Kafka frames in, replies out."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from bundle.given_gateway import LISTEN, Client, Cluster, frame_of, serving_pushes
from bundle.talk import TOPIC, create, describe, look, offset_in, read, write
from server.talk import PRODUCE, batch, produce_row

from samsa.ports import Misconfigured, Missing, Unavailable
from samsa.ports.bounds import INLINE_BYTES
from samsa.wire.apis import ApiKey
from samsa.wire.messages import describe_configs, find_coordinator, produce
from samsa_websocket.envelope import Error, ErrorAction, Ping, Reply, Request
from samsa_websocket.gateway import GatewaySettings

LARGE = bytes(INLINE_BYTES)
"""With its header it is too large for a head, and so becomes an object."""


def test_what_one_environment_stores_another_reads(cluster: Cluster):
    here, there = cluster.client(), cluster.client(cluster.another())
    create(here)
    assert write(here, b"one", b"two") == 0
    assert write(there, b"three") == 2
    assert read(here) == read(there) == [b"one", b"two", b"three"]


def test_clients_are_sent_back_to_where_they_reached_the_shim(cluster: Cluster):
    client = cluster.client()
    client.gateway = cluster.another()  # which has never seen it connect
    (broker,) = describe(client).brokers
    assert (broker.host, broker.port) == LISTEN
    row = find_coordinator.REQUEST(key_type=0, coordinator_keys=["family"])
    (found,) = client.ask(ApiKey.FIND_COORDINATOR, 4, row).coordinators
    assert (found.host, found.port) == LISTEN


def test_every_environment_has_the_same_cluster_id(cluster: Cluster):
    ids = {describe(cluster.client(cluster.another())).cluster_id for _ in range(2)}
    assert len(ids) == 1
    assert len(ids.pop()) == 22


@pytest.mark.parametrize("query", [{"v": "9"}, {"listen": "nowhere"}])
def test_who_greets_badly_is_not_let_in(cluster: Cluster, query: dict[str, str]):
    assert Client(cluster.first).connect(**query)["statusCode"] == 400


@pytest.mark.parametrize(
    ("hours", "wanted"), [("48", "172800000"), ("-1", "-1"), ("", "604800000")]
)
def test_topics_say_for_how_long_the_deployment_keeps_records(
    environment: dict[str, str], hours: str, wanted: str
):
    with serving_pushes() as pushes:
        cluster = Cluster({**environment, "SAMSA_LOG_RETENTION_HOURS": hours}, pushes)
        client = cluster.client()
        create(client)
        asked = [describe_configs.RESOURCE(resource_type=2, resource_name=TOPIC)]
        row = describe_configs.REQUEST(resources=asked)
        (found,) = client.ask(ApiKey.DESCRIBE_CONFIGS, 4, row).results
    (kept,) = [config for config in found.configs if config.name == "retention.ms"]
    broker, default = 4, 5
    assert (kept.value, kept.config_source) == (wanted, broker if hours else default)


@pytest.mark.parametrize("hours", ["0", "-2", "soon"])
def test_a_retention_that_makes_no_sense_is_refused_when_the_function_starts(hours: str):
    stores = {"SAMSA_LEDGER": "dynamodb://samsa", "SAMSA_OBJECTS": "s3://samsa"}
    with pytest.raises(Misconfigured, match="SAMSA_LOG_RETENTION_HOURS"):
        GatewaySettings.of({**stores, "SAMSA_LOG_RETENTION_HOURS": hours})


def test_an_answer_carries_the_number_of_its_request(cluster: Cluster):
    client = cluster.client()
    client.seq = 41
    create(client)
    assert client.seq == 42  # ask() has compared it


def test_a_produce_without_acks_gets_an_empty_reply_and_is_stored(cluster: Cluster):
    client = cluster.client()
    create(client)
    row = produce_row(TOPIC, batch(b"value"), acks=0)
    assert client.send(ApiKey.PRODUCE, PRODUCE, row) == Reply(client.seq, b"")
    assert read(client) == [b"value"]


def test_a_ping_is_answered(cluster: Cluster):
    assert cluster.client().say(Ping()) == Ping()


@pytest.mark.parametrize(
    "text", ["", "hello", "1 reply 1", "1 request 1\n!!", '{"message":"Internal server error"}']
)
def test_what_a_shim_would_not_say_is_refused(cluster: Cluster, text: str):
    answer = cluster.client().say(text)
    assert isinstance(answer, Error)
    assert answer.code == ErrorAction.CLOSE


@pytest.mark.parametrize("frame", [b"\x7f\xff", b"\x7f\xff\0\0\0\0\0\0\xff\xff", b"\0\1\0\x0c\0\0"])
def test_a_frame_that_is_no_request_closes_the_connection(cluster: Cluster, frame: bytes):
    client = cluster.client()
    answer = client.say(Request(5, frame))
    assert isinstance(answer, Error)
    assert (answer.seq, answer.code) == (5, ErrorAction.CLOSE)
    assert describe(client)


def test_an_idempotent_request_that_is_sent_again_is_stored_once(cluster: Cluster):
    client = cluster.client()
    create(client)
    data = batch(b"once", producer_id=7, producer_epoch=0, base_sequence=0)
    row = produce_row(TOPIC, data)
    first = offset_in(client.ask(ApiKey.PRODUCE, PRODUCE, row))
    client.gateway = cluster.another()
    assert offset_in(client.ask(ApiKey.PRODUCE, PRODUCE, row, again=True)) == first
    assert read(client) == [b"once"]


def test_the_partitions_of_a_request_are_appended_to_side_by_side(cluster: Cluster):
    """Each update waits for the others to have begun: one after the other they would never end."""
    client = cluster.client()
    create(client, partitions=3)
    ledger = cluster.first._parts.ledger
    begun = asyncio.Barrier(3)
    update_head = ledger.update_head

    async def update_together(*args: Any) -> Any:
        async with asyncio.timeout(10):
            await begun.wait()
        return await update_head(*args)

    ledger.update_head = update_together  # type: ignore[method-assign]
    entries = [produce.PARTITION(index=n, records=batch(b"value")) for n in range(3)]
    row = produce_row(TOPIC, None)
    row.topic_data[0].partition_data = entries
    answer = client.ask(ApiKey.PRODUCE, PRODUCE, row)
    assert [p.error_code for p in answer.responses[0].partition_responses] == [0, 0, 0]


@pytest.mark.parametrize("error", [Unavailable("slow down"), Missing("swept")])
def test_a_fetch_whose_records_cannot_be_read_now_is_to_be_asked_again(
    cluster: Cluster, error: Exception
):
    client = cluster.client()
    create(client)
    write(client, LARGE)
    objects = cluster.first._parts.objects

    async def fails(*_: Any) -> bytes:
        raise error

    objects.get = fails  # type: ignore[method-assign]
    answer = look(client, 0)
    assert isinstance(answer, Error)
    assert (answer.seq, answer.code) == (client.seq, ErrorAction.RETRY)
    del objects.get
    assert read(client) == [LARGE]


class TimeLeft:
    def __init__(self, ms: int) -> None:
        self._ms = ms

    def get_remaining_time_in_millis(self) -> int:
        return self._ms


def stop_before_the_put(cluster: Cluster) -> None:
    async def never(*_: Any) -> bool:
        await asyncio.Event().wait()
        return False

    cluster.first._parts.objects.put_if_absent = never  # type: ignore[method-assign]


def stop_before_the_update(cluster: Cluster) -> None:
    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    cluster.first._parts.ledger.update_head = never  # type: ignore[method-assign]


def stop_after_the_update(cluster: Cluster) -> None:
    ledger = cluster.first._parts.ledger
    update_head = ledger.update_head

    async def unanswered(*args: Any) -> Any:
        await update_head(*args)
        await asyncio.Event().wait()

    ledger.update_head = unanswered  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("stop", "value", "is_stored"),
    [
        (stop_before_the_put, LARGE, False),
        (stop_before_the_update, LARGE, False),
        (stop_before_the_update, b"small", False),
        (stop_after_the_update, LARGE, True),
        (stop_after_the_update, b"small", True),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)[:9]),
)
def test_an_append_that_a_function_did_not_live_to_finish_hides_nothing_of_others(
    cluster: Cluster, stop: Callable[[Cluster], None], value: bytes, is_stored: bool
):
    client, other = cluster.client(), cluster.client(cluster.another())
    create(client)
    write(client, b"before")
    stop(cluster)
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value)))
    answer = client.say(Request(9, frame), TimeLeft(4_500))
    assert isinstance(answer, Error)
    assert (answer.seq, answer.code) == (9, ErrorAction.CLOSE)
    stored = [b"before", value] if is_stored else [b"before"]
    assert write(other, b"after") == len(stored)
    assert read(other) == [*stored, b"after"]


def test_a_store_that_is_down_closes_the_connection_and_comes_back(cluster: Cluster):
    client = cluster.client()
    create(client)
    http = cluster.first._parts.ledger._client._http
    port, http._port = http._port, 1
    http._pool = None
    answer = look(client, 0)
    assert isinstance(answer, Error | Reply)  # a fetch has a place for the error
    assert client.disconnect()["statusCode"] == 200
    http._port = port
    assert client.connect()["statusCode"] == 200
    assert write(client, b"value") == 0
