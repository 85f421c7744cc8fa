"""Groups by HTTP: who reads what, how far they are, and where they go on."""

from typing import Any

import pytest
from unit.http_api.given import Api, Site, a_classic_member, a_consumer

from samsa.wire.apis import ApiKey
from samsa.wire.messages import offset_commit

OFFSETS = "/groups/billing/offsets"


@pytest.fixture
async def committed(api: Api, site: Site) -> None:
    """A group without members that has read some of a topic of two partitions."""
    await api.topic(partitions=2)
    for number, values in ((0, "abcd"), (1, "ef")):
        records = [
            {"value": value, "partition": number, "timestamp": 1000 + n}
            for n, value in enumerate(values)
        ]
        await api.post("/topics/orders/records", {"records": records}, 201)
    await commit(site, "billing", {0: 3, 1: 0})


async def commit(site: Site, group: str, offsets: dict[int, int], **who: Any) -> int:
    entries = [
        offset_commit.PARTITION(partition_index=number, committed_offset=offset)
        for number, offset in offsets.items()
    ]
    topics = [offset_commit.TOPIC(name="orders", partitions=entries)]
    row = offset_commit.REQUEST(group_id=group, topics=topics, **who)
    answer = await site.kafka.ask(ApiKey.OFFSET_COMMIT, row, 9)
    return int(answer.topics[0].partitions[0].error_code)


async def positions(api: Api) -> list[tuple[int, int | None, int | None]]:
    told = await api.get("/groups/billing")
    return [(each["partition"], each["committed"], each["lag"]) for each in told["positions"]]


@pytest.mark.usefixtures("committed")
async def test_groups_are_listed_and_described_with_their_lag(api: Api):
    listed = [{"group": "billing", "state": "Empty", "type": "classic"}]
    assert (await api.get("/groups"))["groups"] == listed
    told = await api.get("/groups/billing")
    assert (told["state"], told["members"], told["lag"]) == ("Empty", [], 3)
    assert told["positions"][0] == {
        "topic": "orders",
        "partition": 0,
        "committed": 3,
        "end": 4,
        "lag": 1,
        "member_id": None,
    }
    assert await positions(api) == [(0, 3, 1), (1, 0, 2)]


async def test_members_of_the_consumer_protocol_are_shown_with_what_they_read(api: Api, site: Site):
    await api.topic(partitions=2)
    await api.write("one", partition=1)
    member_id = await a_consumer(site.kafka, "billing", "orders", 2)
    told = await api.get("/groups/billing")
    assert told["type"] == "consumer"
    [member] = told["members"]
    assert member["member_id"] == member_id
    assert member["client_id"] == "samsa-http"
    assert member["assignment"] == [{"topic": "orders", "partitions": [0, 1]}]
    assert [(p["partition"], p["end"], p["lag"], p["member_id"]) for p in told["positions"]] == [
        (0, 0, None, member_id),
        (1, 1, None, member_id),
    ]


ASSIGNED = b"\0\0\0\0\0\1\0\6orders\0\0\0\1\0\0\0\1\xff\xff\xff\xff"
"""orders/1, as a consumer's assignor writes it."""


@pytest.mark.usefixtures("committed")
async def test_classic_members_are_shown_with_what_they_read(api: Api, site: Site):
    member_id = await a_classic_member(site.kafka, "billing", ASSIGNED)
    told = await api.get("/groups/billing")
    assert (told["type"], told["state"]) == ("classic", "Stable")
    assert [each["assignment"] for each in told["members"]] == [
        [{"topic": "orders", "partitions": [1]}]
    ]
    assert [each["member_id"] for each in told["positions"]] == [None, member_id]


async def test_a_member_that_is_no_consumer_has_no_assignment_that_we_could_read(
    api: Api, site: Site
):
    await a_classic_member(site.kafka, "workers", b"something of its own")
    assert [each["assignment"] for each in (await api.get("/groups/workers"))["members"]] == [[]]


@pytest.mark.usefixtures("committed")
async def test_offsets_of_a_topic_that_is_gone_have_no_lag(api: Api, site: Site):
    topic = await site.ledger.topic("orders")
    assert topic is not None
    await site.broker.catalog.delete(topic)
    assert await positions(api) == [(0, 3, None), (1, 0, None)]


@pytest.mark.parametrize(
    ("to", "after"),
    [
        ("earliest", [0, 0]),
        ("latest", [4, 2]),
        ({"offset": 1}, [1, 1]),
        ({"offset": 99}, [4, 2]),
        ({"timestamp": 1001}, [1, 1]),
        ({"timestamp": 1002}, [2, 2]),
        ({"shift": -2}, [1, 0]),
        ({"shift": 99}, [4, 2]),
    ],
)
@pytest.mark.usefixtures("committed")
async def test_offsets_are_reset_within_the_log(api: Api, to: Any, after: list[int]):
    dry = await api.post(OFFSETS, {"to": to, "dry_run": True})
    assert [each["after"] for each in dry["offsets"]] == after
    assert await positions(api) == [(0, 3, 1), (1, 0, 2)]
    told = await api.post(OFFSETS, {"to": to})
    assert [(each["before"], each["after"]) for each in told["offsets"]] == list(
        zip([3, 0], after, strict=True)
    )
    assert [each[1] for each in await positions(api)] == after


@pytest.mark.usefixtures("committed")
async def test_only_the_chosen_partitions_are_reset(api: Api):
    chosen = [{"topic": "orders", "partitions": [1]}]
    await api.post(OFFSETS, {"to": "latest", "topics": chosen})
    assert await positions(api) == [(0, 3, 1), (1, 2, 0)]
    await api.post("/groups/new/offsets", {"to": "latest", "topics": [{"topic": "orders"}]})
    assert (await api.get("/groups/new"))["lag"] == 0


@pytest.mark.usefixtures("committed")
async def test_a_reset_that_cannot_be_is_a_problem_and_changes_nothing(api: Api, site: Site):
    nowhere = {"to": "latest", "topics": [{"topic": "nowhere"}]}
    assert (await api.post(OFFSETS, nowhere, 404))["kafka_error"] == "UNKNOWN_TOPIC_OR_PARTITION"
    no_such = {"to": "latest", "topics": [{"topic": "orders", "partitions": [9]}]}
    await api.post(OFFSETS, no_such, 404)
    await api.post("/groups/unknown/offsets", {"to": "latest"}, 404)
    shift = {"to": {"shift": 1}, "topics": [{"topic": "orders"}]}
    await api.post("/groups/unknown/offsets", shift, 409)
    await api.post(OFFSETS, {"to": {"offset": 1, "shift": 1}}, 422)
    await api.post(OFFSETS, {"to": "somewhere"}, 422)
    await a_classic_member(site.kafka, "billing", ASSIGNED)
    problem = await api.post(OFFSETS, {"to": "latest"}, 409)
    assert "has members" in problem["detail"]
    assert await positions(api) == [(0, 3, 1), (1, 0, 2)]


@pytest.mark.usefixtures("committed")
async def test_offsets_are_forgotten_one_by_one_or_by_topic(api: Api, site: Site):
    await api.delete(OFFSETS, topic="orders", partition=0)
    assert await positions(api) == [(1, 0, 2)]
    await commit(site, "billing", {0: 2})
    await api.delete(OFFSETS, topic="orders")
    await api.get("/groups/billing", 404)
    await api.delete(OFFSETS, 404, topic="orders")
    await api.delete(OFFSETS, 404, topic="nowhere")
    await api.delete(OFFSETS, 422)


async def test_offsets_of_a_topic_that_is_being_read_stay(api: Api, site: Site):
    await api.topic()
    await a_consumer(site.kafka, "billing", "orders")
    problem = await api.delete(OFFSETS, 409, topic="orders")
    assert problem["kafka_error"] == "GROUP_SUBSCRIBED_TO_TOPIC"


@pytest.mark.usefixtures("committed")
async def test_a_group_is_deleted_once_it_has_no_members(api: Api, site: Site):
    await api.delete("/groups/billing")
    assert (await api.get("/groups"))["groups"] == []
    assert (await api.delete("/groups/billing", 404))["kafka_error"] == "GROUP_ID_NOT_FOUND"
    await a_consumer(site.kafka, "billing", "orders", 2)
    problem = await api.delete("/groups/billing", 409)
    assert problem["kafka_error"] == "NON_EMPTY_GROUP"
    assert "members" in problem["next_step"]
