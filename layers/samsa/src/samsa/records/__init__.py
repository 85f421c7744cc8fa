"""Record bytes: RecordBatch v2, the older message sets, compression and checksums. Pure."""

from samsa.records.batch import (
    BatchHeader,
    assign,
    empty_like,
    filler,
    headers,
    is_filler,
    read_header,
    validate,
)
from samsa.records.compression import Codec
from samsa.records.errors import CorruptBatch, InvalidRecord, RecordError, UnsupportedCodec
from samsa.records.record import Record, build, first_at_or_after, records

__all__ = [
    "BatchHeader",
    "Codec",
    "CorruptBatch",
    "InvalidRecord",
    "Record",
    "RecordError",
    "UnsupportedCodec",
    "assign",
    "build",
    "empty_like",
    "filler",
    "first_at_or_after",
    "headers",
    "is_filler",
    "read_header",
    "records",
    "validate",
]
