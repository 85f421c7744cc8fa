"""The format `samsa_iceberg`, as Spark knows it: a place for streams to end in.

    rows.writeStream.format("samsa_iceberg").option("catalog.uri", "https://…").start("lake.orders")

It is read as what it is, an Iceberg table.
"""

from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from pyspark_samsa.columns import utc_schema
from pyspark_samsa.errors import BadOption

from .options import read_iceberg_options
from .sink import IcebergWriter
from .tables import prepared


class DefaultSource(DataSource):
    """Found by Spark under this name in any package called `pyspark_…`."""

    @classmethod
    def name(cls) -> str:
        return "samsa_iceberg"

    def streamWriter(self, schema: StructType, overwrite: bool) -> IcebergWriter:
        if overwrite:
            raise BadOption('rows are appended to an Iceberg table: outputMode("append")')
        columns = utc_schema(to_arrow_schema(schema, timezone="UTC"))
        return IcebergWriter(prepared(read_iceberg_options(self.options), columns))
