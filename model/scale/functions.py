"""The bundle: API Gateway, functions, the ledger, the objects. Every append is an update.

A function does not know the head, because another one served the request before: it reads it
first. What it finds to be done it does before it answers, because it is frozen afterwards.
"""

from __future__ import annotations

from scale.loop import Loop, Pool, Task
from scale.meters import Bucket
from scale.setting import Setting
from scale.stores import Refused, Stores
from scale.tally import Tally


class Functions:
    def __init__(self, setting: Setting, stores: Stores, loop: Loop, tally: Tally) -> None:
        limits, burst = setting.limits, setting.times.burst
        self.setting, self.stores, self.loop, self.tally = setting, stores, loop, tally
        self.requests = Bucket(limits.requests, burst)
        self.invocations = Bucket(limits.functions * limits.invocations_each, burst)
        self.pool = Pool(loop, limits.functions)
        self.is_in_object = setting.size > setting.design.inline
        self.is_reading = bytearray(setting.consumers)
        """By consumer: not parked."""
        self.has_missed = bytearray(setting.consumers)

    def append(self, producer: int) -> Task:
        began, partition = self.loop.now, self.stores.world.partition_of[producer]
        self.tally.begin(began)
        try:
            yield from self._invoke(self._append(partition))
        except Refused:
            self.tally.refuse(self.loop.now)
            return
        self.tally.done(began, self.loop.now)

    def _append(self, partition: int) -> Task:
        stores = self.stores
        yield self.loop.now + stores.clockwork.lasts(self.setting.times.own)
        yield from stores.read(partition)
        if self.is_in_object:
            yield from stores.put()
        is_stranger = stores.is_stranger(partition)
        yield from stores.commit(partition, self.setting.size, int(is_stranger))
        self._wake(partition)
        yield from stores.upkeep(partition)

    def _invoke(self, work: Task) -> Task:
        """A message comes in, and a function works on it."""
        yield from self._admit(self.requests)
        yield from self._admit(self.invocations)
        if self.pool.waiting > self.invocations.rate * self.setting.times.patience:
            raise Refused
        yield self.pool.enter()
        try:
            yield from work
        finally:
            self.pool.leave()

    def _admit(self, bucket: Bucket) -> Task:
        """API Gateway and Lambda refuse at once: the shim tries again, as long as it has time."""
        now, patience = self.loop.now, self.setting.times.patience
        if bucket.quote(now, 1) > now + patience:
            bucket.refuse(1)
            yield now + patience
            raise Refused
        yield bucket.take(now, 1)

    def _wake(self, partition: int) -> None:
        for consumer in self.stores.world.readers(partition):
            if self.is_reading[consumer]:
                self.has_missed[consumer] = 1
            else:
                self.is_reading[consumer] = 1
                self.loop.start(self._read(consumer, partition))

    def _read(self, consumer: int, partition: int) -> Task:
        """A push that carries small records; then a fetch, which finds more or parks."""
        try:
            yield from self._admit(self.requests)
            if self.is_in_object:
                yield from self.stores.get()
            while not self.setting.design.has_standing_watchers:
                self.has_missed[consumer] = 0
                yield from self._invoke(self._fetch(partition))
                if not self.has_missed[consumer]:
                    break
        except Refused:
            pass
        self.is_reading[consumer] = 0

    def _fetch(self, partition: int) -> Task:
        yield self.loop.now + self.stores.clockwork.lasts(self.setting.times.own)
        yield from self.stores.read(partition)
        yield from self.stores.watch(partition)
