"""The options of the sink: those of Spark's Kafka sink, and where the log is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyspark_samsa.errors import BadOption
from pyspark_samsa.options import ENVIRONMENT, OF_A_CONSUMER, OF_SPARK, UserOptions
from pyspark_samsa.options import KNOWN as OF_THE_SOURCE
from samsa.records import Codec

COMPRESSION = "kafka.compression.type"
APP, VERSION = "txnAppId", "txnVersion"
LONGEST_APP = 80
SUBSCRIBE = "subscribe"
KNOWN = (*ENVIRONMENT, SUBSCRIBE, "topic", "includeTimestamp", COMPRESSION, APP, VERSION)
NOT_OURS = (
    "checkpointlocation",
    "queryname",
    *OF_A_CONSUMER,
    *OF_SPARK,
    *(name.lower() for name in OF_THE_SOURCE if name not in (*ENVIRONMENT, SUBSCRIBE)),
)
"""Prefixes of options that are for Spark, for reading the same table, or for a producer, of which
there is none."""
CODECS = tuple(codec.name.lower() for codec in Codec)


class NamedWrite(NamedTuple):
    app: str
    version: int


@dataclass(frozen=True, slots=True)
class SinkOptions:
    ledger: str
    objects: str
    topic: str | None
    """Where every row goes, whatever its own column says."""
    codec: Codec
    keeps_time: bool
    """Whether records have the time of the column `timestamp`, and not that of their writing."""
    named: NamedWrite | None
    """The application's name for this write, if it gave one: then it is not written twice."""


def read_sink_options(options: Mapping[str, str], streaming: bool) -> SinkOptions:
    given = UserOptions(options, KNOWN, NOT_OURS)
    return SinkOptions(
        ledger=given.ledger,
        objects=given.objects,
        topic=given.text("topic") or _of_table(given),
        codec=Codec[given.choice(COMPRESSION, CODECS).upper()],
        keeps_time=given.choice("includeTimestamp", ("false", "true")) == "true",
        named=_write_of(given, streaming),
    )


def _of_table(given: UserOptions) -> str | None:
    """The topic of a table in a catalog, whose rows are those of one topic."""
    names = (given.text(SUBSCRIBE) or "").split(",")
    return names[0].strip() or None if len(names) == 1 else None


def _write_of(given: UserOptions, streaming: bool) -> NamedWrite | None:
    app, version = given.text(APP), given.text(VERSION)
    if app is None and version is None:
        return None
    if streaming:
        raise BadOption(f"{APP} and {VERSION} are for batches: a stream numbers its own")
    if app is None or version is None:
        raise BadOption(f"{APP} and {VERSION} go together: who writes, and which write it is")
    if not 0 < len(app.encode()) <= LONGEST_APP:
        raise BadOption(f"{APP}: a name has between 1 and {LONGEST_APP} bytes")
    if not version.isdecimal() or int(version) >= 1 << 63:
        raise BadOption(f"{VERSION}: {version!r} is no whole number from 0 on")
    return NamedWrite(app, int(version))
