"""Every state that can be reached, breadth first, so that the first fault has the shortest path.

A state is known by a hash of 64 bits, as in TLC: ten million states have a chance of three in a
million that two share one. A path is found again by walking it from the start.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from one_commit.invariants import Broken, check, check_at_rest
from one_commit.processes import Process, Setting
from one_commit.readers import Reader
from one_commit.store import Store, Update


class State(NamedTuple):
    store: Store
    late: tuple[Update, ...]
    processes: tuple[Process, ...]


class Found(NamedTuple):
    states: int
    is_whole: bool
    """Whether all states were looked at."""
    fault: str | None = None
    path: tuple[str, ...] = ()


def moves(state: State, setting: Setting) -> Iterator[tuple[str, State]]:
    """What can happen next. Any process may also stop for ever: then others go on without it."""
    store, late, processes = state
    for place, update in enumerate(late):
        after = update.apply(store, setting.broken)
        if after is not None:
            rest = late[:place] + late[place + 1 :]
            yield f"{update.id} arrives late", State(after, rest, processes)
    for place, process in enumerate(processes):
        for step in process.steps(store, late, setting):
            sent = late if step.late is None else (*late, step.late)
            others = (*processes[:place], step.process, *processes[place + 1 :])
            yield step.name, State(step.store, sent, others)


def explore(processes: tuple[Process, ...], setting: Setting, most: int) -> Found:
    first = State(Store(), (), processes)
    came_from: dict[int, int | None] = {hash(first): None}
    queue = deque([first])
    while queue:
        if len(came_from) > most:
            return Found(len(came_from), False)
        state = queue.popleft()
        fault = _look_around(state, setting, came_from, queue)
        if fault is not None:
            name, why = fault
            path = (*_path(first, state, setting, came_from), name)
            return Found(len(came_from), False, why, path)
    return Found(len(came_from), True)


def _look_around(
    state: State, setting: Setting, came_from: dict[int, int | None], queue: deque[State]
) -> tuple[str, str] | None:
    """Add what can be reached from here. The name of a step that breaks something, and what."""
    known, last = hash(state), "nothing is left to do"
    at_rest = not state.late
    try:
        for name, reached in moves(state, setting):
            at_rest, last = False, name
            new = _checked(reached, state.store)
            mark = hash(new)
            if mark not in came_from:
                came_from[mark] = known
                queue.append(new)
        if at_rest:
            check_at_rest(state.store)
    except Broken as broken:
        return last, str(broken)
    return None


def _checked(state: State, before: Store) -> State:
    """Most steps change no store, and a store that is the same was checked."""
    for one in state.processes:
        if isinstance(one, Reader) and one.fault:
            raise Broken(one.fault)
    return state if state.store is before else state._replace(store=check(state.store))


def _path(
    first: State, last: State, setting: Setting, came_from: dict[int, int | None]
) -> list[str]:
    marks: list[int] = []
    mark: int | None = hash(last)
    while mark is not None:
        marks.append(mark)
        mark = came_from[mark]
    names, state = list[str](), first
    for mark in marks[-2::-1]:
        for name, reached in moves(state, setting):
            new = _checked(reached, state.store)
            if hash(new) == mark:
                names.append(name)
                state = new
                break
    return names
