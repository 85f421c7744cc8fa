"""Which rows can be written: the columns of Spark's Kafka sink, checked before anything runs."""

from collections.abc import Mapping

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructType,
    TimestampType,
)

from pyspark_samsa.columns import HEADERS, KEY, PARTITION, TIMESTAMP, TOPIC, VALUE
from pyspark_samsa.errors import BadRows, did_you_mean

from .options import SinkOptions

TEXT_OR_BYTES = (StringType, BinaryType)
TYPES: Mapping[str, tuple[type[DataType], ...]] = {
    KEY: TEXT_OR_BYTES,
    VALUE: TEXT_OR_BYTES,
    TOPIC: (StringType,),
    PARTITION: (IntegerType, LongType),
    TIMESTAMP: (TimestampType,),
}
HEADERS_LOOK = "array<struct<key:string,value:binary>>"


def written_columns(schema: StructType, options: SinkOptions) -> tuple[str, ...]:
    """The names of those that are written. Raises BadRows."""
    names = schema.fieldNames()
    if VALUE not in names:
        hint = did_you_mean(VALUE, names)
        raise BadRows(f"there is no column 'value', only {', '.join(names)}{hint}")
    if options.topic is None and TOPIC not in names:
        raise BadRows("nothing says where to: set the option 'topic', or add a column 'topic'")
    if options.keeps_time and TIMESTAMP not in names:
        raise BadRows("includeTimestamp wants a column 'timestamp', and there is none")
    wanted = [VALUE, KEY, HEADERS, PARTITION]
    wanted += [TOPIC] if options.topic is None else []
    wanted += [TIMESTAMP] if options.keeps_time else []
    found = tuple(name for name in wanted if name in names)
    for name in found:
        _check(name, schema[name].dataType)
    return found


def _check(name: str, kind: DataType) -> None:
    if name == HEADERS:
        if not _are_headers(kind):
            raise BadRows(f"the column 'headers' is {kind.simpleString()}, not {HEADERS_LOOK}")
    elif not isinstance(kind, TYPES[name]):
        right = " or ".join(each().simpleString() for each in TYPES[name])
        raise BadRows(f"the column {name!r} is {kind.simpleString()}, not {right}: cast it")


def _are_headers(kind: DataType) -> bool:
    if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, StructType):
        return False
    types = [(field.name, type(field.dataType)) for field in kind.elementType.fields]
    return types == [(KEY, StringType), (VALUE, BinaryType)]
