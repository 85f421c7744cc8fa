"""One object may hold records of several topics: what a reader of one of them is given of it."""

import os
from urllib.error import HTTPError

import pytest
from bundle.closed import ADMIN, CLERK, ClosedCluster
from bundle.given_gateway import Client, Cluster, gathered, get
from bundle.talk import TOPIC, create, look, values_in
from server.talk import FETCH, PRODUCE, batch, fetch_row, produce_row

from samsa.aws.presign import byte_range
from samsa.security.kinds import Operation
from samsa.wire.apis import ApiKey
from samsa_websocket.envelope import Gather, UrlRange

SECRET = "payroll"
SIZE = 200_000


def write_both(client: Client) -> bytes:
    """One request, whose appends share an object. Returns the value for TOPIC."""
    create(client)
    create(client, topic=SECRET)
    value = os.urandom(SIZE)
    # The first appends read the heads, each at its own pace; those that follow begin together.
    for secret, own in ((b"", b""), (b"salary" * (SIZE // 6), value)):
        row = produce_row(SECRET, batch(secret))
        row.topic_data += produce_row(TOPIC, batch(own)).topic_data
        answer = client.upload(ApiKey.PRODUCE, PRODUCE, row)
        assert [p.error_code for t in answer.responses for p in t.partition_responses] == [0, 0]
    return value


def test_a_reader_of_one_topic_cannot_read_another_one_s_records_in_the_same_object(
    cluster: Cluster,
):
    client = cluster.client()
    value = write_both(client)
    answer = look(client, 1)
    assert isinstance(answer, Gather)
    [piece] = [each for each in answer.pieces if isinstance(each, UrlRange)]
    assert "/log/windows/" in piece.url
    assert value in get(piece)
    end = piece.start + piece.length
    others = {
        "all of it": "bytes=0-",
        "what is before": byte_range(0, piece.start),
        "a byte before": byte_range(piece.start - 1, piece.length + 1),
        "a byte behind": byte_range(piece.start, piece.length + 1),
        "what is behind": byte_range(end, SIZE),
        "the last bytes": f"bytes=-{SIZE}",
    }
    for name, asked in others.items():
        with pytest.raises(HTTPError) as refused:
            get(piece, asked)
        assert refused.value.code == 403, name
        refused.value.close()
    assert values_in(client.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 1))) == [value]


def test_with_acls_no_reader_is_given_a_url_of_an_object_with_several_topics(cluster: Cluster):
    """S3 answers a GET with an If-Range of another ETag with the whole object, signed range or
    not: what a URL is of must be the reader's own."""
    closed = ClosedCluster(cluster, has_topic=False)
    admin = closed.client(principal=ADMIN)
    value = write_both(admin)
    closed.allow(CLERK, Operation.READ)
    clerk = closed.clerk(closed.another())
    answer = look(clerk, 1)
    assert isinstance(answer, Gather)
    urls = [each.url for each in answer.pieces if isinstance(each, UrlRange)]
    assert urls
    assert all(f"/spill/responses/{clerk.connection_id.rstrip('=')}/" in url for url in urls)
    assert b"salary" not in gathered(answer)
    assert values_in(clerk.ask(ApiKey.FETCH, FETCH, fetch_row(TOPIC, 1))) == [value]
    assert "log/windows/" in "".join(objects_of(closed))


def objects_of(closed: ClosedCluster) -> list[str]:
    objects = closed.first._parts.objects

    async def listed() -> list[str]:
        return [key async for key in objects.list("log/")]

    return closed.first._loop.run_until_complete(listed())
