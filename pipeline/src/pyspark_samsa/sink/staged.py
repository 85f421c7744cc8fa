"""The commit message of an executor: where its batches are."""

from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql.datasource import WriterCommitMessage

from pyspark_samsa.positions import TopicPartition

from .turns import Turn


class StagedPiece(NamedTuple):
    """Batches of one partition that lie behind one another in a staged object."""

    topic: str
    number: int
    key: str
    start: int
    length: int
    records: int
    most: int
    """The largest batch that the topic takes."""

    @property
    def where(self) -> TopicPartition:
        return TopicPartition(self.topic, self.number)


@dataclass(frozen=True)
class Staged(WriterCommitMessage):
    turn: Turn
    pieces: tuple[StagedPiece, ...]
