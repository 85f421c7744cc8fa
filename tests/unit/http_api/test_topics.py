"""Topics, partitions and configs by HTTP: what a Kafka client sees, in Kafka's words."""

import pytest
from unit.http_api.given import Api, Site

from samsa.topics.broker_configs import DEFAULTS
from samsa.topics.topic_configs import TOPIC_CONFIGS


async def test_a_topic_is_made_listed_described_and_deleted(api: Api, site: Site):
    new = {"name": "orders", "partitions": 3, "configs": {"retention.ms": 3600000}}
    answer = await api.client.post("/topics", json=new)
    assert (answer.status_code, answer.headers["location"]) == (201, "/topics/orders")
    await api.topic("billing")
    listed = (await api.get("/topics"))["topics"]
    assert [(each["name"], each["partitions"]) for each in listed] == [
        ("billing", 1),
        ("orders", 3),
    ]
    told = await api.get("/topics/orders")
    assert (told["partitions"], told["configs"]) == (3, {"retention.ms": "3600000"})
    assert told["created_at"] == site.clock.now
    await api.delete("/topics/orders")
    await api.get("/topics/orders", 404)
    assert await site.ledger.topic("orders") is None


async def test_a_topic_that_is_only_checked_is_not_made(api: Api):
    await api.post("/topics", {"name": "orders", "validate_only": True})
    assert (await api.get("/topics"))["topics"] == []
    await api.topic()
    await api.post("/topics", {"name": "orders", "validate_only": True}, 409)


@pytest.mark.parametrize(
    ("new", "status", "error"),
    [
        ({"name": "orders"}, 409, "TOPIC_ALREADY_EXISTS"),
        ({"name": "no/such/name"}, 422, "INVALID_TOPIC_EXCEPTION"),
        ({"name": ""}, 422, "INVALID_TOPIC_EXCEPTION"),
        ({"name": "\ud800"}, 422, "INVALID_TOPIC_EXCEPTION"),
        ({"name": "x" * 250}, 422, "INVALID_TOPIC_EXCEPTION"),
        ({"name": "many", "partitions": 10_001}, 422, "INVALID_PARTITIONS"),
        ({"name": "odd", "configs": {"a.b": "1"}}, 422, "INVALID_CONFIG"),
        ({"name": "odd", "configs": {"retention.ms": "soon"}}, 422, "INVALID_CONFIG"),
        ({"name": "odd", "configs": {"preallocate": 1}}, 422, "INVALID_CONFIG"),
    ],
)
async def test_kafkas_rules_are_told_as_problems(api: Api, new: object, status: int, error: str):
    await api.topic()
    problem = await api.post("/topics", new, status)
    assert (problem["status"], problem["kafka_error"]) == (status, error)
    assert problem["type"] == "urn:samsa:problem:" + error.lower().replace("_", "-")
    assert problem["title"]
    assert problem["detail"]
    assert problem["next_step"]
    assert [each["name"] for each in (await api.get("/topics"))["topics"]] == ["orders"]


async def test_what_is_wrong_with_a_request_is_named_one_by_one(api: Api):
    problem = await api.post("/topics", {"name": 7, "partitions": 0, "extra": 1}, 422)
    assert {each["where"] for each in problem["errors"]} == {
        "body.name",
        "body.partitions",
        "body.extra",
    }
    assert problem["kafka_error"] is None


@pytest.mark.parametrize("path", ["", "/partitions", "/partitions/0", "/configs"])
async def test_a_topic_that_is_not_there_is_not_found_and_not_made(api: Api, path: str):
    problem = await api.get(f"/topics/nowhere{path}", 404)
    assert problem["kafka_error"] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert (await api.get("/topics"))["topics"] == []


async def test_partitions_tell_their_bounds_and_sizes(api: Api):
    await api.topic(partitions=3)
    await api.write("one", "two", partition=1)
    told = await api.get("/topics/orders/partitions")
    assert (told["topic"], told["count"]) == ("orders", 3)
    bounds = [(each["start"], each["end"]) for each in told["partitions"]]
    assert bounds == [(0, 0), (0, 2), (0, 0)]
    sizes = [each["size"] for each in told["partitions"]]
    assert sizes[1] > len("onetwo")
    assert sizes[0] == sizes[2] == 0
    assert await api.get("/topics/orders/partitions/1") == told["partitions"][1]
    some = await api.get("/topics/orders/partitions", first=1, limit=1)
    assert some["partitions"] == told["partitions"][1:2]
    await api.get("/topics/orders/partitions/3", 404)
    assert (await api.get("/topics/orders/partitions", first=9))["partitions"] == []


async def test_partitions_are_added_never_taken_away(api: Api):
    await api.topic(partitions=2)
    checked = {"count": 4, "validate_only": True}
    await api.post("/topics/orders/partitions", checked)
    assert (await api.get("/topics/orders"))["partitions"] == 2
    await api.post("/topics/orders/partitions", {"count": 4})
    assert (await api.get("/topics/orders"))["partitions"] == 4
    for count in (4, 3):
        problem = await api.post("/topics/orders/partitions", {"count": count}, 422)
        assert problem["kafka_error"] == "INVALID_PARTITIONS"
    await api.post("/topics/nowhere/partitions", {"count": 4}, 404)


async def test_old_records_are_deleted_up_to_an_offset_or_the_end(api: Api):
    await api.topic()
    await api.write("one", "two", "three")
    path = "/topics/orders/partitions/0/records"
    assert (await api.delete(path, 200, before=2))["start"] == 2
    assert (await api.get(path))["records"][0]["offset"] == 2
    problem = await api.delete(path, 416, before=9)
    assert problem["kafka_error"] == "OFFSET_OUT_OF_RANGE"
    assert (await api.delete(path, 200, before="end"))["start"] == 3
    assert (await api.get(path))["records"] == []
    await api.delete(path, 422)
    await api.delete(path, 422, before="soon")


async def test_configs_have_their_source_and_default(api: Api):
    await api.topic(**{"retention.ms": "1000"})
    told = {each["name"]: each for each in (await api.get("/topics/orders/configs"))["configs"]}
    assert set(told) == set(TOPIC_CONFIGS)
    own, other = told["retention.ms"], told["max.message.bytes"]
    assert (own["value"], own["source"], own["default"]) == ("1000", "topic", "604800000")
    assert (other["value"], other["source"]) == (other["default"], "default")
    assert (own["type"], told["cleanup.policy"]["type"]) == ("long", "list")
    assert "without effect" in told["preallocate"]["about"]


async def test_configs_are_set_and_go_back_to_their_defaults(api: Api):
    await api.topic(**{"retention.ms": "1000", "max.message.bytes": "500"})
    changes = {"retention.ms": None, "max.message.bytes": 700, "preallocate": True}
    await api.patch("/topics/orders/configs", {"configs": changes})
    assert (await api.get("/topics/orders"))["configs"] == {
        "max.message.bytes": "700",
        "preallocate": "true",
    }
    checked = {"configs": {"retention.ms": "5"}, "validate_only": True}
    await api.patch("/topics/orders/configs", checked)
    both = {"configs": {"flush.ms": "5", "retention.ms": "x"}}
    problem = await api.patch("/topics/orders/configs", both, 422)
    assert problem["kafka_error"] == "INVALID_CONFIG"
    assert "retention.ms" in problem["detail"]
    assert "flush.ms" not in (await api.get("/topics/orders"))["configs"]
    await api.patch("/topics/nowhere/configs", {"configs": {"flush.ms": "5"}}, 404)


async def test_the_brokers_configs_are_told(api: Api):
    told = {each["name"]: each for each in (await api.get("/cluster/configs"))["configs"]}
    assert set(told) == set(DEFAULTS)
    assert told["node.id"]["value"] == "0"
    assert told["node.id"]["source"] == "broker"
    assert all(each["read_only"] for each in told.values())
