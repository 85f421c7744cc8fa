"""The format `samsa`, as Spark knows it."""

from collections.abc import Mapping

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from .catalog import keep_options, table_options
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
        return keep_options(spark_schema(read_columns(self.options)), self.options)

    def reader(self, schema: StructType) -> SamsaReader:
        return SamsaReader(read_options(_checked(schema, self.options), streaming=False))

    def streamReader(self, schema: StructType) -> SamsaStreamReader:
        return SamsaStreamReader(read_options(_checked(schema, self.options), streaming=True))

    def writer(self, schema: StructType, overwrite: bool) -> SamsaWriter:
        refuse_overwriting(overwrite)
        options = read_sink_options(table_options(schema, self.options), streaming=False)
        return SamsaWriter(options, written_columns(schema, options))

    def streamWriter(self, schema: StructType, overwrite: bool) -> SamsaStreamWriter:
        refuse_overwriting(overwrite)
        options = read_sink_options(table_options(schema, self.options), streaming=True)
        return SamsaStreamWriter(options, written_columns(schema, options))


def _checked(schema: StructType, options: Mapping[str, str]) -> dict[str, str]:
    found = table_options(schema, options)
    if schema.fieldNames() != list(read_columns(found)):
        raise BadOption(
            "a topic has the columns it has: leave out .schema(), and name some in `columns`"
        )
    return found
