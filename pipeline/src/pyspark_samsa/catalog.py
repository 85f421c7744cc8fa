"""Tables in Spark's catalog: `CREATE TABLE t USING samsa OPTIONS (…)`.

Spark 4.2 shows the options of such a table to `schema` alone, when the table is created; a reader
or a writer gets those of the query, and the columns. So the table's options are kept in the
metadata of its columns, which Spark hands to both.
"""

import json
from collections.abc import Mapping

from pyspark.sql.types import StructField, StructType

from .options import KNOWN, OF_THE_SINK

OF_A_TABLE = "provider"
"""An option that Spark adds to those of a table, and to no others."""
KEPT = "samsa.options"
NAMES = {name.lower() for name in (*KNOWN, *OF_THE_SINK)}


def keep_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """The columns of a table with its options, if it is one of the catalog."""
    if OF_A_TABLE not in options:
        return schema
    kept = {name: options[name] for name in sorted(options) if _is_ours(name)}
    metadata = {KEPT: json.dumps(kept)}
    return StructType([StructField(f.name, f.dataType, True, metadata) for f in schema.fields])


def _is_ours(name: str) -> bool:
    return name.lower() in NAMES or name.lower().startswith("kafka.")


def table_options(schema: StructType, options: Mapping[str, str]) -> dict[str, str]:
    """The options of the query, and those of the table that it does not name."""
    kept = next((f.metadata[KEPT] for f in schema.fields if KEPT in (f.metadata or {})), "{}")
    chosen = {name.lower() for name in options}
    return {**{n: o for n, o in json.loads(kept).items() if n.lower() not in chosen}, **options}
