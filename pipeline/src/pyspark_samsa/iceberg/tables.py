"""Opens a catalog, and in it the table, which is created if it is not there.

PyIceberg is imported when it is needed: it is an extra, and not small.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from pyspark_samsa.errors import BadOption, BadRows, SamsaError, did_you_mean

from .options import IcebergOptions
from .partitioning import PartitionBy, PartitionField, spoken

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table

Properties: TypeAlias = Mapping[str, str]


@contextmanager
def catalog_of(options: IcebergOptions) -> "Iterator[Catalog]":
    try:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.exceptions import NoSuchPropertyException, NotInstalledError
    except ImportError:
        raise SamsaError(
            "Iceberg tables are by PyIceberg: pip install './pipeline[iceberg]', in the checkout"
        ) from None
    try:
        catalog = load_catalog(options.catalog, **options.properties)
    except (ValueError, NoSuchPropertyException, NotInstalledError) as error:
        raise BadOption(f"catalog {options.catalog!r}: {error}") from error
    with catalog:
        yield catalog


def prepared(options: IcebergOptions, schema: pa.Schema) -> IcebergOptions:
    """Create the table, or see that rows of this schema can be appended to it. The options are
    returned with all that this machine knows of the catalog: executors may not know it."""
    with catalog_of(options) as catalog:
        table = open_or_create(catalog, options, schema)
        check_columns(table, schema)
        check_partitioning(table, options.partition_by)
        return replace(options, properties=dict(catalog.properties))


def opened_table(catalog: "Catalog", name: str) -> "Table | None":
    from pyiceberg.exceptions import NoSuchTableError

    with suppress(NoSuchTableError):
        return catalog.load_table(name)
    return None


def existing_table(catalog: "Catalog", name: str) -> "Table":
    table = opened_table(catalog, name)
    if table is None:
        raise SamsaError(f"the table {name} was dropped while a query wrote to it")
    return table


def open_or_create(catalog: "Catalog", options: IcebergOptions, schema: pa.Schema) -> "Table":
    from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

    table = opened_table(catalog, options.table)
    if table is not None:
        return table
    with suppress(CommitFailedException, TableAlreadyExistsError):  # by another query, meanwhile
        _create(catalog, options, schema)
    return existing_table(catalog, options.table)


def _create(catalog: "Catalog", options: IcebergOptions, schema: pa.Schema) -> None:
    from pyiceberg.exceptions import NoSuchNamespaceError

    for field in options.partition_by:
        if field.column not in schema.names:
            hint = did_you_mean(field.column, schema.names)
            raise BadOption(f"partitionBy: there is no column {field.column!r}{hint}")
    try:
        _commit_new(catalog, options, schema)
    except NoSuchNamespaceError:
        catalog.create_namespace_if_not_exists(options.table.rpartition(".")[0])
        _commit_new(catalog, options, schema)


def _commit_new(catalog: "Catalog", options: IcebergOptions, schema: pa.Schema) -> None:
    creating = catalog.create_table_transaction(options.table, schema=schema)
    with creating.update_spec() as spec:
        for field in options.partition_by:
            spec.add_field(field.column, field.transform)
    creating.commit_transaction()


def check_columns(table: "Table", schema: pa.Schema) -> None:
    from pyiceberg.io.pyarrow import _check_pyarrow_schema_compatible

    try:
        _check_pyarrow_schema_compatible(
            table.schema(), schema, format_version=table.metadata.format_version
        )
    except ValueError as error:
        raise BadRows(f"rows do not fit into {_name(table)}: {error}") from None


def check_partitioning(table: "Table", wanted: PartitionBy) -> None:
    found = partitioning(table)
    if wanted and wanted != found:
        raise BadOption(
            f"{_name(table)} is partitioned by {spoken(found)}, not by {spoken(wanted)}"
        )


def partitioning(table: "Table") -> PartitionBy:
    schema = table.schema()
    return tuple(
        PartitionField(str(schema.find_column_name(field.source_id)), str(field.transform))
        for field in table.spec().fields
    )


def _name(table: "Table") -> str:
    return ".".join(table.name())


def summary_of(table: "Table") -> dict[str, Any]:
    """What the current snapshot says; nothing if there is none."""
    snapshot = table.current_snapshot()
    if snapshot is None or snapshot.summary is None:
        return {}
    return dict(snapshot.summary.additional_properties)
