"""The simulation's own tools do what the schedules rely on."""

import asyncio

import pytest
from simulation.loop import Stuck, VirtualLoop
from simulation.setting import Kind
from simulation.truth import Violation
from simulation.weather import Fault
from simulation.world import World

from samsa.ports import Extent, Unavailable
from samsa.ports.heads import HeadUpdate, object_key
from samsa.records import Record, build

DATA = build([Record(0, 1_000, None, b"value")])
ENTRY = Extent(0, 1, len(DATA), 1_000, 1_000, "", data=DATA, id="n1")
HEADS = 1
"""A seed whose processes commit to heads."""


class Always:
    """The same fault on every call, and no sleep."""

    def __init__(self, fault: Fault | None) -> None:
        self.fault = lambda *_: fault
        self.sleeps = lambda *_: False
        self.calm = False


def world_with(fault: Fault | None) -> World:
    world = World(HEADS, VirtualLoop())
    assert world.setting.kind is Kind.HEADS
    world.weather = Always(fault)
    return world


def commit(world: World, seconds: float = 60) -> asyncio.Task[object]:
    """Try to commit through the first process, until it has an answer or for a while."""
    heads = world.processes[0].log._stores.ledger
    task = world.loop.create_task(heads.update_head(world.partitions[0], HeadUpdate(ENTRY, 0)))
    world.loop.run_until_complete(asyncio.wait([task], timeout=seconds))
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


def test_a_call_without_a_fault_has_its_effect_and_its_answer():
    world = world_with(None)
    state, done = commit(world).result()
    assert done
    assert state.head.next_offset == next_offset(world) == 1
    world.loop.bury()


def test_a_refused_call_has_no_effect():
    world = world_with(Fault.REFUSED)
    assert isinstance(commit(world).exception(), Unavailable)
    world.loop.run_until_complete(asyncio.sleep(60))
    assert next_offset(world) == 0
    world.loop.bury()


def test_a_lost_answer_comes_after_the_effect():
    world = world_with(Fault.LOST)
    assert isinstance(commit(world).exception(), Unavailable)
    assert next_offset(world) == 1
    world.loop.bury()


def test_a_late_effect_comes_after_the_answer():
    world = world_with(Fault.LATE)
    assert isinstance(commit(world).exception(), Unavailable)
    assert next_offset(world) == 0
    world.loop.run_until_complete(asyncio.sleep(60))
    assert next_offset(world) == 1
    assert world.paths["a late update arrived"] == 1
    world.loop.bury()


def test_a_late_update_has_no_effect_once_it_was_fenced():
    world = world_with(Fault.LATE)
    commit(world)
    world.ledger.count_sweep(world.partitions[0])
    world.loop.run_until_complete(asyncio.sleep(60))
    assert next_offset(world) == 0
    assert world.paths["a late update was refused"] == 1
    world.loop.bury()


def test_nothing_of_a_crashed_process_runs_any_more():
    world = world_with(Fault.CRASH)
    dead = world.processes[0]
    task = commit(world, 600)
    assert not task.done()
    assert next_offset(world) == 1
    assert dead not in world.processes
    world.loop.bury()


def test_the_truth_objects_to_a_visible_offset_without_a_value():
    world = world_with(None)
    partition = world.partitions[0]
    lost = ENTRY._replace(key=object_key(partition, ENTRY.id), data=b"")
    with pytest.raises(Violation, match="the object of the entry at 0 is not there"):
        world.ledger.update_head(partition, HeadUpdate(lost, 0))
    world.loop.bury()


def test_the_truth_objects_to_a_batch_that_is_stored_again():
    world = world_with(None)
    partition = world.partitions[0]
    world.ledger.update_head(partition, HeadUpdate(ENTRY, 0))
    again = ENTRY._replace(id="n2")
    with pytest.raises(Violation, match="the batch at 0 is at 1 again"):
        world.ledger.update_head(partition, HeadUpdate(again, 0))
    world.loop.bury()
