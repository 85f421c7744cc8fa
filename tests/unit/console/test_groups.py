"""Groups: pages of all of them, one with its members and lags, and the reset of its offsets."""

from typing import Any
from urllib.parse import quote

import pytest
from unit.console.given import CONSOLE, ConsoleSite
from unit.http_api.given import Api, a_classic_member, a_consumer

from samsa.wire.apis import ApiKey
from samsa.wire.group_offsets import LAST_BY_NAME, commit_request

GROUPS = f"{CONSOLE}/groups"


async def committed(api: Api, group: str, topic: str, offset: int) -> None:
    given = {"to": {"offset": offset}, "topics": [{"topic": topic}]}
    await api.post(f"/groups/{group}/offsets", given)


async def five(api: Api) -> None:
    """A topic of ten records, and groups at different offsets."""
    await api.topic()
    await api.write(*map(str, range(10)))
    for name, offset in (("b", 7), ("a", 10), ("c", 0)):
        await committed(api, name, "orders", offset)


async def test_a_page_has_states_members_and_lags(api: Api, site: ConsoleSite):
    await five(api)
    await a_consumer(site.kafka, "modern", "orders")
    answer = await api.get(GROUPS)
    assert answer["total"] == 4
    rows = {each["group"]: each for each in answer["groups"]}
    assert list(rows) == ["a", "b", "c", "modern"]
    assert rows["b"] == {
        "group": "b", "type": "classic", "state": "Empty", "members": 0, "lag": 3,
        "topics": ["orders"],
    }  # fmt: skip
    assert (rows["modern"]["type"], rows["modern"]["members"]) == ("consumer", 1)


async def test_groups_are_sorted_searched_and_paged(api: Api):
    await five(api)
    await api.get(GROUPS)

    async def names(**query: Any) -> list[str]:
        return [each["group"] for each in (await api.get(GROUPS, **query))["groups"]]

    assert await names(sort="lag") == ["c", "b", "a"]
    assert await names(offset=1, limit=1) == ["b"]
    assert await names(search="B") == ["b"]
    await api.get(GROUPS, 422, sort="size")


async def test_one_group_has_its_members_and_every_partition(api: Api, site: ConsoleSite):
    await api.topic(partitions=2)
    await api.write("1", "2", partition=1)
    member = await a_consumer(site.kafka, "readers", "orders", 2)
    found = await api.get(f"{GROUPS}/readers")
    assert (found["type"], found["state"], found["assignor"]) == ("consumer", "Stable", "uniform")
    assert found["generation"] > 0
    (one,) = found["members"]
    assert (one["id"], one["instance_id"]) == (member, None)
    assert one["partitions"] == [{"topic": "orders", "partition": n} for n in range(2)]
    assert found["offsets"][1] == {
        "topic": "orders", "partition": 1, "committed": None, "end": 2, "start": 0, "lag": None,
        "metadata": None,
    }  # fmt: skip


async def test_a_classic_member_with_bytes_that_are_no_assignment_is_shown(
    api: Api, site: ConsoleSite
):
    await a_classic_member(site.kafka, "odd", b"\xff\xff rubbish")
    found = await api.get(f"{GROUPS}/odd")
    assert found["members"][0]["partitions"] == []


async def test_offsets_of_a_deleted_topic_have_no_end(api: Api, site: ConsoleSite):
    await five(api)
    site.broker.catalog.forget(await site.kafka.topic("orders"))
    await site.ledger.delete_topic(await site.kafka.topic("orders"))
    site.clock.now += 5_000
    found = await api.get(f"{GROUPS}/b")
    assert [each["end"] for each in found["offsets"]] in ([None], [])


async def test_a_group_that_is_not_there_is_404(api: Api):
    await api.get(f"{GROUPS}/nobody", 404)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("earliest", 0),
        ("latest", 10),
        ({"offset": 4}, 4),
        ({"offset": 99}, 10),
        ({"shift": -2}, 5),
        ({"shift": 100}, 10),
        ({"timestamp": 0}, 0),
    ],
)
async def test_a_dry_run_shows_what_a_reset_then_does(api: Api, to: Any, expected: int):
    await five(api)
    given = {"topic": "orders", "partitions": None, "to": to, "dry_run": True}
    row = {"topic": "orders", "partition": 0, "from": 7, "to": expected, "lag_after": 10 - expected}
    shown = await api.post(f"{GROUPS}/b/reset", given)
    assert shown == {"dry_run": True, "offsets": [row]}
    assert (await api.get(f"{GROUPS}/b"))["offsets"][0]["committed"] == 7
    done = await api.post(f"{GROUPS}/b/reset", {**given, "dry_run": False})
    assert done == {"dry_run": False, "offsets": [row]}
    assert (await api.get(f"{GROUPS}/b"))["offsets"][0]["committed"] == expected


@pytest.mark.parametrize("dry_run", [True, False])
async def test_a_group_with_members_is_not_reset(api: Api, site: ConsoleSite, dry_run: bool):
    await api.topic()
    await a_consumer(site.kafka, "readers", "orders")
    given = {"topic": "orders", "to": "earliest", "dry_run": dry_run}
    refused = await api("POST", f"{GROUPS}/readers/reset", 409, given)
    assert "has members" in refused["detail"]


@pytest.mark.parametrize(
    "given",
    [
        {"topic": "orders", "to": "yesterday"},
        {"topic": "orders", "to": {"offset": -1}},
        {"topic": "orders", "to": {"offset": 2**63}},
        {"topic": "orders", "to": "latest", "partitions": [-1]},
        {"topic": "orders", "to": "latest", "more": 1},
        {"topic": "orders"},
        [],
    ],
)
async def test_a_wrong_reset_is_refused(api: Api, given: Any):
    await api.topic()
    await api("POST", f"{GROUPS}/b/reset", 422, given)


async def test_offsets_are_set_for_a_group_before_it_begins(api: Api):
    await five(api)
    given = {"topic": "orders", "to": "latest", "dry_run": False}
    await api.post(f"{GROUPS}/new/reset", given)
    assert (await api.get(f"{GROUPS}/new"))["offsets"][0]["committed"] == 10
    await api("POST", f"{GROUPS}/new/reset", 404, {"topic": "nothing", "to": "latest"})


@pytest.mark.parametrize("name", ["a/b", "a/reset", "<script>", "ä 🙂", "..", "%2F", "?x=1#y"])
async def test_a_group_may_have_any_name(api: Api, site: ConsoleSite, name: str):
    await api.topic()
    row = commit_request(name, {("orders", 0): 0})
    await site.kafka.ask(ApiKey.OFFSET_COMMIT, row, LAST_BY_NAME)
    assert [each["group"] for each in (await api.get(GROUPS))["groups"]] == [name]
    path = f"{GROUPS}/{quote(name, safe='')}"
    if name != "..":  # which every client takes out of a path by itself
        assert (await api.get(path))["group"] == name
        given = {"topic": "orders", "to": "latest"}
        assert len((await api.post(f"{path}/reset", given))["offsets"]) == 1
