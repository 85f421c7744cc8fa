"""Appends the files of a micro-batch, and notes in the same commit that it is there.

The note is a property of the table, one for each query: snapshots expire, and what they say of a
batch goes with them. The snapshot says the same, for people. A commit is conditional on the
snapshot that was the last when the note was read. PyIceberg's own retries are not used: they would
put the files onto a newer snapshot without another look at the note, and a batch that two drivers
commit would be there twice.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pyspark_samsa.errors import SamsaError

from .tables import existing_table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

QUERY, BATCH = "samsa.query", "samsa.batch"
TRIES, FIRST_WAIT_S, LONGEST_WAIT_S = 12, 0.1, 5.0


class MicroBatch(NamedTuple):
    query: str
    """The query's id, which is kept in its checkpoint."""
    number: int

    @property
    def note(self) -> str:
        """The property that says which batch of this query was the last."""
        return f"{BATCH}.{self.query}"


class WrittenFile(NamedTuple):
    file: "DataFile"
    spec_id: int
    """The partitioning that it was written for: pickling loses it."""


def commit(
    catalog: "Catalog",
    name: str,
    batch: MicroBatch,
    files: Sequence[WrittenFile],
    wait: Callable[[float], None] = time.sleep,
) -> bool:
    """Whether the batch was appended; not if it was there already. Raises SamsaError if others
    commit so often that it cannot be."""
    from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException

    for attempt in range(TRIES):
        table = existing_table(catalog, name)
        if is_done(table, batch):
            return attempt > 0  # by the try before, whose answer was lost
        check_spec(table, files)
        try:
            _append(table, batch, files)
        except (CommitFailedException, CommitStateUnknownException):
            wait(min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S))
        else:
            return True
    raise SamsaError(f"{name}: other writers committed first, {TRIES} times; start the query again")


def is_done(table: "Table", batch: MicroBatch) -> bool:
    return int(table.properties.get(batch.note, -1)) >= batch.number


def check_spec(table: "Table", files: Sequence[WrittenFile]) -> None:
    if any(each.spec_id != table.spec().spec_id for each in files):
        raise SamsaError(
            "the partitioning of the table was changed while a micro-batch was written: start the"
            " query again"
        )


def _append(table: "Table", batch: MicroBatch, files: Sequence[WrittenFile]) -> None:
    from pyiceberg.table.update import AssertTableUUID

    changing = table.transaction()
    changing.set_properties({batch.note: str(batch.number)})
    said = {QUERY: batch.query, BATCH: str(batch.number)}
    with changing.update_snapshot(snapshot_properties=said).fast_append() as append:
        for each in files:
            each.file.spec_id = each.spec_id
            append.append_data_file(each.file)
    same = AssertTableUUID(uuid=table.metadata.table_uuid)
    table._do_commit(changing._updates, (*changing._requirements, same))
