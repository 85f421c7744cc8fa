"""`samsa up` on DynamoDB and S3: what comes to a partition while its update is under way gathers.

A lane is one partition in one process. It has one update under way; the next takes all that came
meanwhile. What is too large for the head goes into an object, one put of the process at a time,
which holds what all its lanes have. With a window, nothing starts before the window's end. A call
that is throttled waits for its turn, and more gathers behind it: nothing is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from scale.loop import Loop, Task
from scale.meters import Bucket
from scale.setting import Setting
from scale.stores import Stores
from scale.tally import Tally

PRODUCERS_PER_UPDATE = 32
"""More do not fit into an expression of 4 KB: assumed, at about 120 bytes each."""


Waiting = tuple[int, float]
"""An append: its producer, and when it began."""


class Lane:
    __slots__ = ("is_busy", "partition", "waiting")

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.waiting: list[Waiting] = []
        self.is_busy = False


class Process:
    def __init__(self, network: Bucket) -> None:
        self.network = network
        self.lanes: dict[int, Lane] = {}
        self.ready: dict[int, Lane] = {}
        """With something to flush, when the window or the put before has ended."""
        self.is_flushing = False


class Processes:
    def __init__(self, setting: Setting, stores: Stores, loop: Loop, tally: Tally) -> None:
        self.setting, self.stores, self.loop, self.tally = setting, stores, loop, tally
        rate, burst = setting.limits.network, setting.times.burst
        self.all = [Process(Bucket(rate, burst)) for _ in range(setting.processes)]

    def append(self, producer: int) -> Task:
        partition = self.stores.world.partition_of[producer]
        met = partition if self.setting.design.has_hints else producer
        process = self.all[met % len(self.all)]
        began, size = self.loop.now, self.setting.size
        self.tally.begin(began)
        yield process.network.take(began, size * (2 + self.setting.readers))
        lane = process.lanes.get(partition)
        if lane is None:
            lane = process.lanes[partition] = Lane(partition)
        lane.waiting.append((producer, began))
        if not lane.is_busy:
            self._get_ready(process, lane)

    def _get_ready(self, process: Process, lane: Lane) -> None:
        if not self.setting.design.window and self._fits_inline(lane):
            self._begin(process, lane)
            return
        process.ready[lane.partition] = lane
        if not process.is_flushing:
            process.is_flushing = True
            self.loop.start(self._flush(process))

    def _fits_inline(self, lane: Lane) -> bool:
        return len(lane.waiting) * self.setting.size <= self.setting.design.inline

    def _flush(self, process: Process) -> Task:
        """While there is something: wait for the window's end, put, and begin the updates."""
        while process.ready:
            yield self.loop.now + self.setting.design.window
            lanes, process.ready = list(process.ready.values()), {}
            large = [lane for lane in lanes if not self._fits_inline(lane)]
            for lane in lanes:
                if self._fits_inline(lane):
                    self._begin(process, lane)
            in_object = [(lane, self._take(lane)) for lane in large]
            if in_object:
                yield from self.stores.put()
                self._read_elsewhere()
                for lane, taken in in_object:
                    self.loop.start(self._commit(process, lane, taken))
        process.is_flushing = False

    def _read_elsewhere(self) -> None:
        """Every other process gets the object once, unless its clients come here."""
        if not self.setting.design.has_hints and self.setting.consumers:
            self.stores.gets.take(self.loop.now, len(self.all) - 1)

    def _begin(self, process: Process, lane: Lane) -> None:
        self.loop.start(self._commit(process, lane, self._take(lane)))

    def _take(self, lane: Lane) -> list[Waiting]:
        lane.is_busy = True
        taken, lane.waiting = lane.waiting, []
        return taken

    def _commit(self, process: Process, lane: Lane, taken: list[Waiting]) -> Task:
        partition, stores, inline = lane.partition, self.stores, self.setting.design.inline
        size = len(taken) * self.setting.size
        for appends, strangers in self._updates(partition, taken):
            # In an object, the head has no more than where it is, whatever its size.
            mine = len(appends) * self.setting.size if size <= inline else inline + 1
            yield from stores.commit(partition, mine, strangers)
            for began in appends:
                self.tally.done(began, self.loop.now)
            self.loop.start(stores.upkeep(partition))
        lane.is_busy = False
        if lane.waiting:
            self._get_ready(process, lane)

    def _updates(self, partition: int, taken: list[Waiting]) -> Iterator[tuple[list[float], int]]:
        """The appends of each update, and how many of its producers are not in the head."""
        of: dict[int, list[float]] = {}
        for producer, began in taken:
            of.setdefault(producer, []).append(began)
        producers = list(of)
        for first in range(0, len(producers), PRODUCERS_PER_UPDATE):
            some = producers[first : first + PRODUCERS_PER_UPDATE]
            strangers = sum(self.stores.is_stranger(partition) for _ in some)
            yield [began for producer in some for began in of[producer]], strangers
