"""Folders wherever Spark can write: a disk, HDFS, S3."""

from typing import Any

from pyspark.sql import SparkSession


class Folder:
    def __init__(self, spark: SparkSession, path: str) -> None:
        jvm: Any = spark._jvm
        context: Any = spark.sparkContext._jsc
        self._spark, self._path = spark, jvm.org.apache.hadoop.fs.Path(path.rstrip("/"))
        self._files = self._path.getFileSystem(context.hadoopConfiguration())

    def __truediv__(self, name: str) -> "Folder":
        return Folder(self._spark, f"{self}/{name}")

    def __str__(self) -> str:
        return str(self._path.toString())

    def beside(self, ending: str) -> "Folder":
        return Folder(self._spark, f"{self}{ending}")

    def exists(self) -> bool:
        return bool(self._files.exists(self._path))

    def is_empty(self) -> bool:
        return not self.exists() or not self._files.listStatus(self._path)

    def read(self) -> bytes:
        """The content, of a file."""
        stream = self._files.open(self._path)
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, content: bytes) -> None:
        """Replace a file: it is there whole, or not at all."""
        draft = self.beside(".draft")
        stream = self._files.create(draft._path, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        self.remove()
        draft.rename(self)

    def remove(self) -> None:
        self._files.delete(self._path, True)

    def rename(self, to: "Folder") -> None:
        if not self._files.rename(self._path, to._path):
            raise OSError(f"{self} cannot be renamed to {to}")
