"""The format `samsa_latest`, as Spark knows it: a place for streams of changes to end in.

It is read as what it is, a table in Parquet or Delta.
"""

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from .options import read_latest_options
from .sink import LatestWriter


class DefaultSource(DataSource):
    """Found by Spark under this name in any package called `pyspark_…`."""

    @classmethod
    def name(cls) -> str:
        return "samsa_latest"

    def streamWriter(self, schema: StructType, overwrite: bool) -> LatestWriter:  # noqa: ARG002
        return LatestWriter(read_latest_options(self.options, schema.fieldNames()))
