"""Parquet files of one folder, on a disk or in S3: each is replaced whole, or stays as it was."""

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSelector, FileSystem, FileType

from samsa.runtime.system import fresh_words

DRAFTS = "_drafts"


class ParquetFiles:
    def __init__(self, url: str) -> None:
        # `s3a` is Hadoop's name for what others call `s3`.
        place = url.replace("s3a://", "s3://", 1)
        found: tuple[Any, str] = FileSystem.from_uri(place)
        self._system, self._root = found[0], found[1].rstrip("/")

    def names(self, folder: str = "") -> list[str]:
        """Names of what is in a folder; none if there is no folder."""
        where = FileSelector(self._path(folder), allow_not_found=True)
        return sorted(info.base_name for info in self._system.get_file_info(where))

    def read(self, name: str) -> pa.Table | None:
        path = self._path(name)
        if self._system.get_file_info(path).type == FileType.NotFound:
            return None
        # By a handle: from a path it would guess columns.
        with self._system.open_input_file(path) as file:
            return pq.read_table(file)

    def write(self, name: str, table: pa.Table) -> None:
        path, draft = self._path(name), self._path(f"{DRAFTS}/{fresh_words()()}")
        for each in (path, draft):
            self._system.create_dir(each.rpartition("/")[0], recursive=True)
        with self._system.open_output_stream(draft) as file:
            pq.write_table(table, file)
        self._system.move(draft, path)

    def remove(self, folder: str) -> None:
        """Delete a folder with all that is in it."""
        path = self._path(folder)
        if self._system.get_file_info(path).type != FileType.NotFound:
            self._system.delete_dir(path)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")
