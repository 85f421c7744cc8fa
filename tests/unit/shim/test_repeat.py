"""Every API that is served is looked at: what is not the same twice as once is not repeated."""

import pytest
from server.talk import batch, produce_row

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.frame import request_frame
from samsa.wire.messages import consumer_group_heartbeat, join_group, produce
from samsa_websocket.shim.repeat import may_repeat

READS = {
    "FETCH", "LIST_OFFSETS", "METADATA", "OFFSET_FETCH", "FIND_COORDINATOR", "DESCRIBE_GROUPS",
    "LIST_GROUPS", "API_VERSIONS", "OFFSET_FOR_LEADER_EPOCH", "DESCRIBE_CONFIGS",
    "DESCRIBE_LOG_DIRS", "DESCRIBE_CLUSTER", "DESCRIBE_PRODUCERS", "CONSUMER_GROUP_DESCRIBE",
    "DESCRIBE_TOPIC_PARTITIONS", "LIST_PARTITION_REASSIGNMENTS", "DESCRIBE_QUORUM",
    "LIST_CONFIG_RESOURCES", "DESCRIBE_ACLS", "DESCRIBE_CLIENT_QUOTAS",
    "DESCRIBE_USER_SCRAM_CREDENTIALS", "DESCRIBE_TRANSACTIONS", "LIST_TRANSACTIONS",
}  # fmt: skip
SAME_TWICE = {"HEARTBEAT", "SYNC_GROUP", "OFFSET_COMMIT", "INIT_PRODUCER_ID"}
DEPENDS = {"PRODUCE", "JOIN_GROUP", "CONSUMER_GROUP_HEARTBEAT"}
SEQUENCED = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}


def framed(key: ApiKey, row: object, version: int | None = None) -> bytes:
    version = APIS[key].versions[-1] if version is None else version
    return request_frame(APIS[key], version, 1, "test", row)[4:]


@pytest.mark.parametrize("key", [key for key in APIS if ApiKey(key).name not in DEPENDS])
def test_only_what_reads_or_says_the_same_again_is_repeated(key):
    frame = framed(ApiKey(key), APIS[key].request())
    assert may_repeat(frame) == (ApiKey(key).name in READS | SAME_TWICE)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (produce_row("t", batch(b"x", **SEQUENCED)), True),
        (produce_row("t", batch(b"x")), False),
        (produce_row("t", batch(b"x", **SEQUENCED), acks=0), False),
        (
            produce.REQUEST(
                acks=-1,
                topic_data=[
                    produce.TOPIC(
                        name="t",
                        partition_data=[
                            produce.PARTITION(index=0, records=batch(b"x", **SEQUENCED)),
                            produce.PARTITION(index=1, records=batch(b"x")),
                        ],
                    )
                ],
            ),
            False,
        ),
        (produce_row("t", b"no batch at all"), False),
    ],
)
def test_a_produce_is_repeated_if_the_log_knows_all_of_its_batches_again(row, expected):
    assert may_repeat(framed(ApiKey.PRODUCE, row, 9)) is expected


@pytest.mark.parametrize(
    ("member", "instance", "expected"), [("", None, False), ("m", None, True), ("", "i", True)]
)
def test_who_has_a_name_joins_again_and_who_has_none_does_not(member, instance, expected):
    row = join_group.REQUEST(group_id="g", member_id=member, group_instance_id=instance)
    assert may_repeat(framed(ApiKey.JOIN_GROUP, row)) is expected


@pytest.mark.parametrize(
    ("member", "epoch", "expected"),
    [("", 0, False), ("m", 0, True), ("m", 5, True), ("m", -1, False)],
)
def test_a_consumer_heartbeat_is_repeated_unless_it_leaves_or_has_no_name(member, epoch, expected):
    row = consumer_group_heartbeat.REQUEST(group_id="g", member_id=member, member_epoch=epoch)
    assert may_repeat(framed(ApiKey.CONSUMER_GROUP_HEARTBEAT, row)) is expected


@pytest.mark.parametrize("frame", [b"", b"\0", b"\x7f" * 40, b"\0\0\0\x09\0\0\0\1\xff\xff\0"])
def test_what_cannot_be_read_is_not_repeated(frame):
    assert may_repeat(frame) is False
