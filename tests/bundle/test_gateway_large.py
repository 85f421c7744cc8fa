"""What does not fit into a message of 128 KB."""

import os
from hashlib import sha256

import pytest
from bundle.given_gateway import Cluster, frame_of, gathered, put, row_of
from bundle.talk import TOPIC, create, look, offset_in, read, values_in, write
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode as KafkaError
from samsa.wire.frame import read_response
from samsa_websocket.envelope import (
    LARGEST_INLINE,
    Error,
    ErrorAction,
    Gather,
    Reference,
    Reply,
    Request,
    Ticket,
    Upload,
    UrlRange,
    apart,
    encode,
    fits,
    joined,
)

MEGABYTE = 1_000_000


def test_a_request_of_a_megabyte_is_uploaded_and_stored(cluster: Cluster):
    client = cluster.client()
    create(client)
    value = os.urandom(MEGABYTE)
    answer = client.upload(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value)))
    assert offset_in(answer) == 0
    assert read(client) == [value]


def test_a_large_fetch_is_a_gather_list_and_its_records_never_pass_through(cluster: Cluster):
    client = cluster.client()
    create(client)
    values = [os.urandom(MEGABYTE // 2) for _ in range(4)]
    for value in values:
        client.upload(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value)))
    objects = cluster.first._parts.objects
    before = objects.calls["get"]
    answer = look(client, 0)
    assert isinstance(answer, Gather)
    assert objects.calls["get"] == before
    ranges = [piece for piece in answer.pieces if isinstance(piece, UrlRange)]
    assert sum(piece.length for piece in ranges) > 4 * MEGABYTE // 2
    assert sum(len(piece) for piece in answer.pieces if isinstance(piece, bytes)) < 200
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer)) == values


@pytest.mark.parametrize("size", [LARGEST_INLINE - 400, LARGEST_INLINE + 1])
def test_a_response_about_as_large_as_a_message_arrives_whole(cluster: Cluster, size: int):
    client = cluster.client()
    create(client)
    value = os.urandom(size)
    client.upload(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(value)))
    answer = look(client, 0)
    assert isinstance(answer, Reply if size < LARGEST_INLINE else Gather)
    assert fits(encode(answer))
    assert values_in(row_of(ApiKey.FETCH, FETCH, answer)) == [value]


def test_many_small_objects_are_read_inline_one_message_after_the_other(cluster: Cluster):
    client = cluster.client()
    create(client)
    values = [os.urandom(9_000) for _ in range(16)]
    for value in values:
        write(client, value)
    found: list[bytes | None] = []
    messages = 0
    while len(found) < len(values):
        answer = look(client, len(found))
        assert isinstance(answer, Reply)
        found += values_in(row_of(ApiKey.FETCH, FETCH, answer))
        messages += 1
    assert (found, messages) == (values, 2)


def test_a_gather_list_is_cut_to_what_fits_and_the_rest_comes_next(cluster: Cluster):
    client = cluster.client()
    create(client)
    values = [os.urandom(60_000) for _ in range(6)]
    for value in values:
        write(client, value)
    presigner = cluster.first._parts.presigner
    short = presigner.get

    async def long(key: str, start: int, length: int) -> str:
        return await short(key, start, length) + "&padding=" + "x" * 40_000

    presigner.get = long  # type: ignore[method-assign]
    answer = look(client, 0)
    assert isinstance(answer, Gather)
    assert fits(encode(answer))
    kept = sum(isinstance(piece, UrlRange) for piece in answer.pieces)
    assert 2 <= kept <= 3
    presigner.get = short  # type: ignore[method-assign]
    found = values_in(row_of(ApiKey.FETCH, FETCH, look(client, 0, max_bytes=130_000)))
    assert found == values[: len(found)]
    assert found


def test_an_old_client_gets_its_converted_records_from_the_spill(cluster: Cluster):
    client = cluster.client()
    create(client)
    client.upload(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(os.urandom(MEGABYTE))))
    row = fetch_row(TOPIC, 0)
    row.replica_id = -1
    answer = client.send(ApiKey.FETCH, 2, row)
    assert isinstance(answer, Gather)
    (piece,) = answer.pieces
    assert isinstance(piece, UrlRange)
    assert "/spill/" in piece.url
    assert len(gathered(answer)) > MEGABYTE
    (one,) = row_of(ApiKey.FETCH, 2, answer).responses[0].partitions
    assert len(one.records) > MEGABYTE


def several(*values: bytes) -> bytes:
    rows = [produce_row(TOPIC, batch(value)) for value in values]
    return b"".join(joined(tuple(frame_of(ApiKey.PRODUCE, PRODUCE, row) for row in rows)))


def offsets_in(frames: bytes) -> list[int]:
    found = [read_response(APIS[ApiKey.PRODUCE], PRODUCE, each)[1] for each in apart(frames)]
    return [offset_in(row) for row in found]


def test_produces_that_come_together_share_a_commit_in_their_order(cluster: Cluster):
    client = cluster.client()
    create(client)
    values = [bytes([number]) * (MEGABYTE // 2) for number in range(4)]
    frames = several(*values)
    digest = sha256(frames).hexdigest()
    ticket = client.say(Upload(1, len(frames), digest))
    assert isinstance(ticket, Ticket)
    put(ticket, frames)
    objects = cluster.first._parts.objects
    before = objects.calls["put"]
    answer = client.say(Reference(1, ticket.key, len(frames), digest, several=True))
    assert isinstance(answer, Reply)
    assert (answer.several, offsets_in(bytes(answer.frame))) == (True, [0, 1, 2, 3])
    assert objects.calls["put"] == before + 1
    assert read(client) == values


def test_one_bad_batch_among_several_spoils_only_itself(cluster: Cluster):
    client = cluster.client()
    create(client)
    good = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    bad = good.replace(b"value", b"valve")
    answer = client.say(Request(1, b"".join(joined((good, bad, good))), several=True))
    assert isinstance(answer, Reply)
    rows = [read_response(APIS[ApiKey.PRODUCE], PRODUCE, each)[1] for each in apart(answer.frame)]
    entries = [row.responses[0].partition_responses[0] for row in rows]
    assert [each.error_code for each in entries] == [0, KafkaError.CORRUPT_MESSAGE, 0]
    assert [each.base_offset for each in entries] == [0, -1, 1]


def test_what_stands_before_a_request_that_cannot_be_read_is_seen_through(cluster: Cluster):
    client = cluster.client()
    create(client)
    good = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    answer = client.say(Request(1, b"".join(joined((good, good[:-20]))), several=True))
    assert isinstance(answer, Error)
    assert answer.code == ErrorAction.CLOSE
    assert read(client) == [b"value"]


@pytest.mark.parametrize("what", ["a fetch", "half a frame"])
def test_what_cannot_come_together_is_refused_and_nothing_is_stored(cluster: Cluster, what: str):
    client = cluster.client()
    create(client)
    frames = several(b"value", b"value")
    if what == "a fetch":
        frames += b"".join(joined((frame_of(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 0)),)))
    else:
        frames = frames[:-1]
    answer = client.say(Request(1, frames, several=True))
    assert isinstance(answer, Error)
    assert answer.code == ErrorAction.CLOSE
    assert read(client) == []


def test_a_reference_may_come_again(cluster: Cluster):
    """The function that got it first may have died; an idempotent batch is then stored once."""
    client = cluster.client()
    create(client)
    data = batch(os.urandom(MEGABYTE), producer_id=3, producer_epoch=0, base_sequence=0)
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, data))
    digest = sha256(frame).hexdigest()
    ticket = client.say(Upload(1, len(frame), digest))
    assert isinstance(ticket, Ticket)
    put(ticket, frame)
    reference = Reference(1, ticket.key, len(frame), digest)
    answers = [client.say(reference) for _ in range(2)]
    offsets = [offset_in(row_of(ApiKey.PRODUCE, PRODUCE, answer)) for answer in answers]
    assert offsets == [0, 0]


@pytest.mark.parametrize("what", ["another digest", "not uploaded", "not a spill"])
def test_a_reference_to_something_else_is_refused(cluster: Cluster, what: str):
    client = cluster.client()
    create(client)
    frame = frame_of(ApiKey.PRODUCE, PRODUCE, produce_row(TOPIC, batch(b"value")))
    digest = sha256(frame).hexdigest()
    ticket = client.say(Upload(1, len(frame), digest))
    assert isinstance(ticket, Ticket)
    key = ticket.key
    if what == "another digest":
        put(ticket, frame)
        digest = sha256(b"other").hexdigest()
    elif what == "not a spill":
        write(client, b"value")
        key = f"log/{what}"
    answer = client.say(Reference(1, key, len(frame), digest))
    assert isinstance(answer, Error)
    assert answer.code == ErrorAction.CLOSE


def test_an_upload_beyond_all_bounds_gets_no_ticket(cluster: Cluster):
    answer = cluster.client().say(Upload(1, 1 << 40, "00"))
    assert isinstance(answer, Error)
    assert (answer.seq, answer.code) == (1, ErrorAction.CLOSE)
