"""Staged pieces to the batches that are appended: always the same batches for the same pieces.

Many tasks leave many small batches for a partition. They are put together, because the log
remembers a producer's last five batches, and so takes five of them at a time.
"""

from collections.abc import AsyncIterator, Iterable, Iterator

from samsa.ports import Buffer, Objects
from samsa.records import Record, build, headers, records

from .staged import StagedPiece

SMALL, TOGETHER = 64 * 1024, 256 * 1024


async def batches(objects: Objects, pieces: Iterable[StagedPiece]) -> AsyncIterator[bytes]:
    """The batches of one partition. Raises Missing."""
    waiting: list[bytes] = []
    for piece in pieces:
        data = await objects.get(piece.key, piece.start, piece.length)
        for batch in _cut(data):
            if _size([*waiting, batch]) > min(TOGETHER, piece.most):
                if waiting:
                    yield together(waiting)
                waiting = []
            waiting.append(batch)
            if len(batch) > SMALL:
                yield together(waiting)
                waiting = []
    if waiting:
        yield together(waiting)


def together(several: list[bytes]) -> bytes:
    """Their records as one batch."""
    if len(several) == 1:
        return several[0]
    every = (record for data in several for record in records(data))
    return build(_numbered(every), codec=headers(several[0])[0][1].codec)


def _numbered(every: Iterable[Record]) -> Iterator[Record]:
    return (record._replace(offset=number) for number, record in enumerate(every))


def _cut(data: Buffer) -> list[bytes]:
    return [bytes(data[at : at + header.size]) for at, header in headers(data)]


def _size(several: list[bytes]) -> int:
    return sum(map(len, several))
