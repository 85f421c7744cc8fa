"""Who plays in a schedule."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from .idempotent import IdempotentProducer
from .janitors import Deleter, Janitor, Merger
from .lookers import CommittedReader, Inspector, Reader
from .plain import GroupedWriter, SingleWriter
from .transactional import LastJanitor, TransactionalProducer, TransactionJanitor

if TYPE_CHECKING:
    from .world import World

Work = Coroutine[Any, Any, None]


class Cast(NamedTuple):
    writers: list[Work]
    others: list[Work]
    inspectors: list[Inspector]
    last: list[LastJanitor]
    """Who comes between the others and the inspectors."""


def actors(world: "World") -> Cast:
    rng, setting, partitions = world.rng, world.setting, world.partitions
    writers = [
        *(
            GroupedWriter(world, f"grouped {n}", rng.choice(partitions), rng.randint(3, 5))
            for n in range(setting.grouped)
        ),
        *(
            SingleWriter(world, f"single {n}", rng.choice(partitions), rng.randint(3, 5))
            for n in range(setting.single)
        ),
        *(
            IdempotentProducer(world, 7 + n, rng.choice(partitions), rng.randint(6, 14))
            for n in range(setting.idempotent)
        ),
        *_transactional(world),
    ]
    others = [
        *(Reader(world, f"reader {n}", rng.choice(partitions)) for n in range(setting.readers)),
        *(
            CommittedReader(world, f"committed {n}", rng.choice(partitions))
            for n in range(min(setting.transactional, 2))
        ),
        *(TransactionJanitor(world, "ender") for _ in range(min(setting.transactional, 1))),
        *(Janitor(world, f"janitor {n}") for n in range(setting.janitors)),
        *(Merger(world, f"merger {n}") for n in range(setting.mergers)),
        *(Deleter(world, f"deleter {n}") for n in range(setting.deleters)),
    ]
    return Cast(
        [writer.run() for writer in writers],
        [other.run() for other in others],
        [Inspector(world, f"inspector {n}", p) for n, p in enumerate(partitions)],
        [LastJanitor(world, "last")] if setting.transactional else [],
    )


def _transactional(world: "World") -> list[TransactionalProducer]:
    count, rivals = world.setting.transactional, world.setting.rivals
    return [
        TransactionalProducer(
            world,
            f"transactional {n}",
            "t" if rivals else f"t{n}",
            world.partitions,
            world.rng.randint(2, 5),
        )
        for n in range(count)
    ]
