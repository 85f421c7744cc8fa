"""The simulation's own tools do what the schedules rely on."""

import asyncio

import pytest
from simulation.loop import Stuck, VirtualLoop
from simulation.truth import Violation
from simulation.weather import Fault
from simulation.world import World

from samsa.ports import Partition, Unavailable

RESERVED = "1.1.n"


class Always:
    """The same fault on every call, and no sleep."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = lambda *_: fault
        self.sleeps = lambda *_: False
        self.calm = False


def world_with(fault: Fault | None) -> World:
    world = World(1, VirtualLoop())
    world.weather = Always(fault)
    return world


def reserve(world: World, seconds: float = 1) -> asyncio.Task[object]:
    """Try to reserve through the first process, for a while."""
    ledger = world.processes[0].log._stores.ledger
    task = world.loop.create_task(ledger.reserve(world.partitions[0], RESERVED, 1))
    world.loop.run_until_complete(asyncio.sleep(seconds))
    return task


def next_offset(world: World) -> int:
    return world.ledger.head(world.partitions[0]).next_offset


def test_an_hour_passes_at_once():
    loop = VirtualLoop()
    loop.run_until_complete(asyncio.sleep(3600))
    assert loop.time() == 3600
    loop.bury()


def test_waiting_for_nothing_is_noticed():
    loop = VirtualLoop()
    with pytest.raises(Stuck):
        loop.run_until_complete(loop.create_future())
    loop.bury()


def test_a_refused_call_has_no_effect():
    world = world_with(Fault.REFUSED)
    assert isinstance(reserve(world).exception(), Unavailable)
    assert next_offset(world) == 0
    world.loop.bury()


def test_a_lost_answer_comes_after_the_effect():
    world = world_with(Fault.LOST)
    assert isinstance(reserve(world).exception(), Unavailable)
    assert next_offset(world) == 1
    world.loop.bury()


def test_a_late_effect_comes_after_the_answer():
    world = world_with(Fault.LATE)
    assert isinstance(reserve(world, 0.2).exception(), Unavailable)
    world.loop.run_until_complete(asyncio.sleep(60))
    assert next_offset(world) == 1
    world.loop.bury()


def test_nothing_of_a_crashed_process_runs_any_more():
    world = world_with(Fault.CRASH)
    dead = world.processes[0]
    task = reserve(world, 600)
    assert not task.done()
    assert next_offset(world) == 1
    assert dead not in world.processes
    world.loop.bury()


def test_the_truth_objects_to_a_visible_offset_without_a_value():
    world = world_with(None)
    partition = Partition(world.partitions[0].topic_id, 0)
    head = world.ledger.reserve(partition, RESERVED, 1)
    with pytest.raises(Violation, match="has no value"):
        world.truth.closed(partition, head._replace(inflight={}))
    world.loop.bury()
