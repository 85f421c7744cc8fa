"""The options of the format `samsa_latest`: where the table is, and which of two rows is newer."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_samsa.errors import BadOption, did_you_mean
from pyspark_samsa.options import UserOptions

from .newest import GONE, Order

PARQUET, DELTA = "parquet", "delta"
KNOWN = ("path", "format", "keys", "sequenceBy", "deleteColumn", "buckets")
NOT_OURS = ("checkpointlocation", "queryname")
BUCKETS = 16


@dataclass(frozen=True, slots=True)
class LatestOptions:
    path: str
    form: str
    order: Order
    deleted: str | None
    """The column that says whether the key of a row was deleted; the table does not have this
    column."""
    buckets: int
    """Files that a new table has."""


def read_latest_options(options: Mapping[str, str], columns: list[str]) -> LatestOptions:
    given = UserOptions(options, KNOWN, NOT_OURS)
    path = given.text("path")
    if not path:
        raise BadOption("path: it says where the table is")
    if GONE in columns:
        raise BadOption(f"a table cannot have a column {GONE!r}")
    deleted = given.text("deleteColumn")
    return LatestOptions(
        path=path,
        form=given.choice("format", (PARQUET, DELTA)),
        order=Order(_names(given, "keys", columns), _names(given, "sequenceBy", columns)),
        deleted=None if deleted is None else _known("deleteColumn", deleted, columns),
        buckets=given.number("buckets") or BUCKETS,
    )


def _names(given: UserOptions, option: str, columns: list[str]) -> tuple[str, ...]:
    names = [name.strip() for name in (given.text(option) or "").split(",") if name.strip()]
    if not names:
        raise BadOption(f"{option}: no column is named; several are separated by commas")
    return tuple(_known(option, name, columns) for name in names)


def _known(option: str, name: str, columns: list[str]) -> str:
    if name not in columns:
        raise BadOption(f"{option}: there is no column {name!r}{did_you_mean(name, columns)}")
    return name
