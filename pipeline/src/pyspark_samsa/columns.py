"""The columns of a topic, as Spark and as Arrow know them: those of Spark's Kafka source."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

KEY, VALUE, TOPIC, PARTITION = "key", "value", "topic", "partition"
OFFSET, TIMESTAMP, TIMESTAMP_TYPE, HEADERS = "offset", "timestamp", "timestampType", "headers"

SPARK_TYPES: dict[str, DataType] = {
    KEY: BinaryType(),
    VALUE: BinaryType(),
    TOPIC: StringType(),
    PARTITION: IntegerType(),
    OFFSET: LongType(),
    TIMESTAMP: TimestampType(),
    TIMESTAMP_TYPE: IntegerType(),
    HEADERS: ArrayType(
        StructType([StructField(KEY, StringType()), StructField(VALUE, BinaryType())])
    ),
}

HEADER = pa.struct([pa.field(KEY, pa.string()), pa.field(VALUE, pa.binary())])
ARROW_TYPES: dict[str, pa.DataType] = {
    KEY: pa.binary(),
    VALUE: pa.binary(),
    TOPIC: pa.string(),
    PARTITION: pa.int32(),
    OFFSET: pa.int64(),
    TIMESTAMP: pa.timestamp("us", "UTC"),
    TIMESTAMP_TYPE: pa.int32(),
    HEADERS: pa.list_(pa.field("element", HEADER)),
}

ALWAYS = tuple(name for name in SPARK_TYPES if name != HEADERS)
"""The columns of a row by default."""


def spark_schema(names: Sequence[str]) -> StructType:
    return StructType([StructField(name, SPARK_TYPES[name]) for name in names])


def arrow_schema(names: Sequence[str]) -> pa.Schema:
    return pa.schema([pa.field(name, ARROW_TYPES[name]) for name in names])


def in_utc(rows: pa.Table) -> pa.Table:
    """The same rows, with times in UTC, as tables have them: Spark hands them over in the zone of
    its session."""
    return rows.cast(utc_schema(rows.schema))


def utc_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([_field_in_utc(field) for field in schema])


def _field_in_utc(field: pa.Field) -> pa.Field:
    return field.with_type(_type_in_utc(field.type))


def _type_in_utc(of: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(of) and of.tz is not None:
        return pa.timestamp("us", "UTC")
    if pa.types.is_struct(of):
        return pa.struct([_field_in_utc(field) for field in of])
    if pa.types.is_map(of):
        return pa.map_(_field_in_utc(of.key_field), _field_in_utc(of.item_field))
    if pa.types.is_list(of):
        return pa.list_(_field_in_utc(of.value_field))
    return of
