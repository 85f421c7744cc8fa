"""The format `samsa`, as Spark knows it."""

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from .columns import spark_schema
from .errors import BadOption
from .options import read_columns, read_options
from .reader import SamsaReader
from .sink.options import read_sink_options
from .sink.schema import written_columns
from .sink.writer import SamsaStreamWriter, SamsaWriter, refuse_overwriting
from .stream import SamsaStreamReader


class DefaultSource(DataSource):
    """Found by Spark under this name in any package called `pyspark_…`."""

    @classmethod
    def name(cls) -> str:
        return "samsa"

    def schema(self) -> StructType:
        return spark_schema(read_columns(self.options))

    def reader(self, schema: StructType) -> SamsaReader:
        self._check(schema)
        return SamsaReader(read_options(self.options, streaming=False))

    def streamReader(self, schema: StructType) -> SamsaStreamReader:
        self._check(schema)
        return SamsaStreamReader(read_options(self.options, streaming=True))

    def writer(self, schema: StructType, overwrite: bool) -> SamsaWriter:
        refuse_overwriting(overwrite)
        options = read_sink_options(self.options, streaming=False)
        return SamsaWriter(options, written_columns(schema, options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> SamsaStreamWriter:
        refuse_overwriting(overwrite)
        options = read_sink_options(self.options, streaming=True)
        return SamsaStreamWriter(options, written_columns(schema, options))

    def _check(self, schema: StructType) -> None:
        if schema.fieldNames() != self.schema().fieldNames():
            raise BadOption(
                "a topic has the columns it has: leave out .schema(), and name some in `columns`"
            )
