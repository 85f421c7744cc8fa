"""Record bytes: RecordBatch v2, the older message sets, compression and checksums. Pure."""

from samsa.records.batch import (
    BatchHeader,
    assign,
    filler,
    headers,
    is_filler,
    read_header,
    validate,
)
from samsa.records.compression import Codec
from samsa.records.errors import (
    CorruptBatch,
    InvalidRecord,
    RecordError,
    TooLarge,
    UnsupportedCodec,
)
from samsa.records.record import Record, build, records

__all__ = [
    "BatchHeader",
    "Codec",
    "CorruptBatch",
    "InvalidRecord",
    "Record",
    "RecordError",
    "TooLarge",
    "UnsupportedCodec",
    "assign",
    "build",
    "filler",
    "headers",
    "is_filler",
    "read_header",
    "records",
    "validate",
]
