"""Hidden partitioning, as users write it: `hours(timestamp), bucket(16, key), topic`. Pure."""

import re
from typing import NamedTuple, TypeAlias

from pyspark_samsa.errors import BadOption

ONE = re.compile(r"(?:(\w+)\(\s*(?:(\d+)\s*,\s*)?([^(),]+?)\s*\)|([^(),]+))")
SEPARATOR = re.compile(r",(?![^(]*\))")
TIMES = {
    f"{name}{plural}": name for name in ("year", "month", "day", "hour") for plural in ("", "s")
}
WITH_NUMBER = "bucket", "truncate"
EXAMPLE = "such as hours(timestamp), bucket(16, key) or topic"


class PartitionField(NamedTuple):
    column: str
    transform: str
    """In the words of Iceberg's specification: `identity`, `hour`, `bucket[16]`."""


PartitionBy: TypeAlias = tuple[PartitionField, ...]


def read_partition_by(text: str) -> PartitionBy:
    if not text.strip():
        return ()
    fields = tuple(_field(each.strip()) for each in SEPARATOR.split(text))
    if len({field.column for field in fields}) < len(fields):
        raise BadOption(f"partitionBy: {text!r} names a column twice")
    return fields


def _field(text: str) -> PartitionField:
    found = ONE.fullmatch(text)
    if found is None:
        raise BadOption(f"partitionBy: {text!r} is not understood; it is {EXAMPLE}")
    name, number, column, alone = found.groups()
    if alone is not None:
        return PartitionField(alone.strip(), "identity")
    return PartitionField(column, _transform(text, name.lower(), number))


def _transform(text: str, name: str, number: str | None) -> str:
    if name in TIMES and number is None:
        return TIMES[name]
    if name in WITH_NUMBER and number is not None and 0 < int(number) < 1 << 31:
        return f"{name}[{int(number)}]"
    raise BadOption(f"partitionBy: {text!r} is no transform of Iceberg's, {EXAMPLE}")


def spoken(fields: PartitionBy) -> str:
    """As in a message."""
    return ", ".join(f"{each.transform} of {each.column}" for each in fields) or "nothing"
