"""Data files of rows, written by an executor: in the table's schema and partitions, with what its
manifests say of them.

Not by PyIceberg's own way from rows to files: release 0.12 writes a list of structs that is null as
an empty one, and headers are such a list.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_samsa.columns import in_utc
from samsa.runtime.system import fresh_words

from .tables import check_columns

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.partitioning import PartitionKey
    from pyiceberg.table import Table

HELD_BYTES = 128 * 1024 * 1024
"""Rows that are held in memory, before they are written."""
ROW = "row"


def data_files(
    table: "Table", batches: Iterator[pa.RecordBatch], held_bytes: int = HELD_BYTES
) -> "Iterator[DataFile]":
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= held_bytes:
            yield from _written(table, held)
            held, size = [], 0
    yield from _written(table, held)


def _written(table: "Table", held: list[pa.RecordBatch]) -> "Iterator[DataFile]":
    if any(batch.num_rows for batch in held):
        rows = in_utc(pa.Table.from_batches(held))
        check_columns(table, rows.schema)
        for key, share in by_partition(table, fitted(table, rows)):
            yield _written_file(table, key, share)


def fitted(table: "Table", rows: pa.Table) -> pa.Table:
    """The rows in the columns of the table: in its order, with its ids, and null if not given."""
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    schema = schema_to_pyarrow(table.schema())
    columns = [
        rows[field.name].cast(field.type)
        if field.name in rows.column_names
        else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def by_partition(
    table: "Table", rows: pa.Table
) -> "Iterator[tuple[PartitionKey | None, pa.Table]]":
    from pyiceberg.partitioning import PartitionFieldValue, PartitionKey

    spec, schema = table.spec(), table.schema()
    if spec.is_unpartitioned():
        yield None, rows
        return
    for values, numbers in _groups(table, rows):
        found = zip(spec.fields, values, strict=True)
        key = PartitionKey([PartitionFieldValue(*each) for each in found], spec, schema)
        yield key, rows.take(numbers)


def _groups(table: "Table", rows: pa.Table) -> Iterator[tuple[tuple[Any, ...], pa.Array]]:
    """The values of each partition, and the numbers of its rows."""
    schema, fields = table.schema(), table.spec().fields
    places = [f"{number}" for number in range(len(fields))]
    values = [
        field.transform.pyarrow_transform(schema.find_type(field.source_id))(
            rows[schema.find_column_name(field.source_id)]
        )
        for field in fields
    ]
    numbered = pa.table([*values, pa.array(range(len(rows)), pa.int64())], [*places, ROW])
    groups = numbered.group_by(places).aggregate([(ROW, "list")])
    for number, group in enumerate(groups.select(places).to_pylist()):
        yield tuple(group.values()), groups[f"{ROW}_list"][number].values


def _written_file(table: "Table", key: "PartitionKey | None", rows: pa.Table) -> "DataFile":
    from pyiceberg.io.pyarrow import ParquetFormatWriter
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    name = f"{fresh_words()()}.parquet"
    path = table.location_provider().new_data_location(name, key)
    output = table.io.new_output(path)
    with ParquetFormatWriter(output, table.schema(), table.properties) as writer:
        writer.write(rows)
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=Record() if key is None else key.partition,
        file_size_in_bytes=len(output),
        spec_id=table.spec().spec_id,
        **writer.result().to_serialized_dict(),
    )
