"""The options of the sink: those of Spark's Kafka sink, and where the log is."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_samsa.errors import BadOption
from pyspark_samsa.options import ENVIRONMENT, Given
from samsa.records import Codec

COMPRESSION = "kafka.compression.type"
APP, VERSION = "txnAppId", "txnVersion"
KNOWN = (*ENVIRONMENT, "topic", "includeTimestamp", COMPRESSION, APP, VERSION)
NOT_OURS = ("kafka.", "checkpointlocation", "queryname", "path", "includeheaders")
"""How options begin that are for Spark, or for a producer that is not there."""
CODECS = tuple(codec.name.lower() for codec in Codec)


@dataclass(frozen=True, slots=True)
class SinkOptions:
    ledger: str
    objects: str
    topic: str | None
    """Where every row goes, whatever its own column says."""
    codec: Codec
    keeps_time: bool
    """Whether records have the time of the column `timestamp`, and not that of their writing."""
    app: str | None
    """Who writes, and then which of its writes it is: one that was written is not written again."""
    version: int | None


def read_sink_options(options: Mapping[str, str], streaming: bool) -> SinkOptions:
    given = Given(options, KNOWN, NOT_OURS)
    return SinkOptions(
        ledger=given.ledger,
        objects=given.objects,
        topic=given.text("topic"),
        codec=Codec[given.choice(COMPRESSION, CODECS).upper()],
        keeps_time=given.choice("includeTimestamp", ("false", "true")) == "true",
        app=given.text(APP) or None,
        version=_version(given, streaming),
    )


def _version(given: Given, streaming: bool) -> int | None:
    app, text = given.text(APP), given.text(VERSION)
    if streaming:
        if text is not None:
            raise BadOption(f"{VERSION}: a stream numbers its batches itself")
        return None
    if (app is None) != (text is None):
        raise BadOption(f"{APP} and {VERSION} go together: who writes, and which write it is")
    if text is None:
        return None
    if not text.isdigit():
        raise BadOption(f"{VERSION}: {text!r} is no whole number from 0 on")
    return int(text)
