"""Spilled requests and responses go a day after they were first seen."""

from unit.log.given import Given, a_log

from samsa.log.spills import KEPT_MS, sweep_spills

HOUR_MS = 3_600_000


async def keys(given: Given) -> list[str]:
    return [key async for key in given.objects.list("")]


async def test_a_spill_goes_a_day_after_it_was_seen_and_nothing_else_does():
    given = await a_log()
    for key in ("spill/a/1", "log/kept"):
        await given.objects.put_if_absent(key, [b"x"])
    await sweep_spills(given.stores)
    given.clock.now += KEPT_MS - 1
    await given.objects.put_if_absent("spill/b/1", [b"y"])
    await sweep_spills(given.another().stores)
    assert await keys(given) == ["log/kept", "spill/a/1", "spill/b/1"]
    given.clock.now += 1
    await sweep_spills(given.another().stores)
    assert await keys(given) == ["log/kept", "spill/b/1"]
    given.clock.now += KEPT_MS
    await sweep_spills(given.stores)
    assert await keys(given) == ["log/kept"]


async def test_a_broker_looks_for_spills_once_an_hour():
    given = await a_log()
    await given.log.janitor.sweep_spills()
    listed = given.objects.calls["list"]
    await given.log.janitor.sweep_spills()
    assert given.objects.calls["list"] == listed
    given.clock.now += HOUR_MS
    await given.log.janitor.sweep_spills()
    assert given.objects.calls["list"] == listed + 1
