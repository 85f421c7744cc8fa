"""The plan of a turn: the pieces that it consists of, fixed for every process that publishes it.

And what is known when it is done: the producer of each partition, and its next sequence number.
"""

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from pyspark_samsa.errors import SamsaError
from samsa.log.producers import SEQUENCES
from samsa.ports import Buffer, Partition

from .staged import StagedPiece
from .turns import Turn

FORM = 1
"""Changes when another release would cut the same pieces into other batches."""
OURS = 1 << 62
"""Far above what the ledger counts up to when it gives ids to producers."""


class Producer(NamedTuple):
    id: int
    next_sequence: int

    def after(self, records: int) -> "Producer":
        return Producer(self.id, (self.next_sequence + records) % SEQUENCES)


Producers: TypeAlias = dict[str, Producer]
"""By the name of a partition."""


def new_producer(turn: Turn, partition: Partition) -> Producer:
    """The producer that writes to a partition from this turn on. Two processes that make it
    independently get the same one."""
    name = f"{turn.name}\0{turn.number}\0{partition}"
    digest = blake2b(name.encode(), digest_size=8).digest()
    return Producer(OURS | int.from_bytes(digest, "big") % OURS, 0)


def write_plan(pieces: Iterable[StagedPiece]) -> bytes:
    return json.dumps({"form": FORM, "pieces": list(pieces)}).encode()


def read_plan(data: Buffer) -> list[StagedPiece]:
    found = json.loads(bytes(data))
    if found["form"] != FORM:
        raise SamsaError(
            f"this turn was begun by another release of Samsa (form {found['form']}, not {FORM}):"
            " finish it with that one"
        )
    return [StagedPiece(*piece) for piece in found["pieces"]]


def write_done(producers: Producers) -> bytes:
    return json.dumps(producers).encode()


def read_done(data: Buffer) -> Producers:
    return {name: Producer(*one) for name, one in json.loads(bytes(data)).items()}
