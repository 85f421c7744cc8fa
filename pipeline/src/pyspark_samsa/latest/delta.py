"""A Delta table, upserted by `MERGE`: one version of the table for each set of changes.

By delta-rs and not by Spark's jar, because the commit of a Python sink has no Spark session.
"""

from typing import Any

import pyarrow as pa

from pyspark_samsa.errors import SamsaError

from .newest import GONE, Order

OLD, NEW = "old", "new"


class DeltaRows:
    def __init__(self, url: str, order: Order) -> None:
        self._url, self._order = url.replace("s3a://", "s3://", 1), order

    def merge(self, changes: pa.Table) -> None:
        """Changes of which some are deletions, each key once."""
        delta = _delta_rs()
        columns = [name for name in changes.column_names if name != GONE]
        values = {_quoted(name): _of(NEW, name) for name in columns}
        schema = changes.select(columns).schema
        table = delta.DeltaTable.create(self._url, schema, mode="ignore")
        same_key = " AND ".join(f"{_of(OLD, key)} = {_of(NEW, key)}" for key in self._order.keys)
        newer, gone = is_newer(self._order.sequence), _of(NEW, GONE)
        (
            table.merge(changes, same_key, source_alias=NEW, target_alias=OLD)
            .when_matched_delete(f"{gone} AND {newer}")
            .when_matched_update(values, newer)
            .when_not_matched_insert(values, f"NOT {gone}")
            .execute()
        )


def is_newer(sequence: tuple[str, ...]) -> str:
    """As SQL: by the first column that differs."""
    first, *rest = sequence
    newer = f"{_of(NEW, first)} > {_of(OLD, first)}"
    if not rest:
        return f"({newer})"
    return f"({newer} OR {_of(NEW, first)} = {_of(OLD, first)} AND {is_newer(tuple(rest))})"


def _of(table: str, column: str) -> str:
    return f"{table}.{_quoted(column)}"


def _quoted(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _delta_rs() -> Any:
    try:
        import deltalake
    except ImportError:
        raise SamsaError("upserts into Delta are by delta-rs: pip install deltalake") from None
    return deltalake
