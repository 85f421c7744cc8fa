"""Rows spread over Parquet files by their keys: a change rewrites only the files of its keys.

A file is replaced atomically, so that a reader sees each key before or after the change. The number
of files is in their names and never changes: with another number, keys would be looked for in other
files.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from .files import ParquetFiles
from .newest import Order, all_alive, by_bucket, living, newest

NAME = re.compile(r"bucket-\d+-of-(\d+)\.parquet")
Change: TypeAlias = Callable[[list[pa.Table], pa.Table], pa.Table]


class BucketFiles:
    def __init__(self, files: ParquetFiles, folder: str, order: Order, count: int) -> None:
        self._files, self._folder, self._order = files, folder, order
        found = [match for name in files.names(folder) if (match := NAME.fullmatch(name))]
        self._count = int(found[0][1]) if found else count

    def near(self, rows: pa.Table) -> list[pa.Table]:
        """The contents of the files in which the keys of these rows would be."""
        found = [self._files.read(self._name(bucket)) for bucket in self._split(rows)]
        return [content for content in found if content is not None]

    def keep(self, rows: pa.Table) -> None:
        """Merge these rows into the files: the newest row of each key stays."""
        self._change(rows, lambda old, new: newest([*old, new], self._order))

    def merge(self, changes: pa.Table) -> None:
        """The same for changes, of which some are deletions, into a table that has none."""
        self._change(
            changes, lambda old, new: living(newest([*map(all_alive, old), new], self._order))
        )

    def _change(self, rows: pa.Table, change: Change) -> None:
        for bucket, new in self._split(rows).items():
            name = self._name(bucket)
            old = self._files.read(name)
            content = change([] if old is None else [old], new)
            if old is None or not content.equals(old):
                self._files.write(name, content)

    def _split(self, rows: pa.Table) -> dict[int, pa.Table]:
        return by_bucket(rows, self._order, self._count)

    def _name(self, bucket: int) -> str:
        name = f"bucket-{bucket:05d}-of-{self._count:05d}.parquet"
        return f"{self._folder}/{name}" if self._folder else name
