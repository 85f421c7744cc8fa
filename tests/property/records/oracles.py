"""Other people's record code, behind one shape each."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBatch
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as AiokafkaMessages
from aiokafka.record.memory_records import MemoryRecords as AiokafkaReader
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBatch
from kafka.record.legacy_records import LegacyRecordBatchBuilder as KafkaPythonMessages
from kafka.record.memory_records import MemoryRecords as KafkaPythonReader

from samsa.records import Codec, Record

ROOM = 1 << 20


class Oracle(NamedTuple):
    name: str
    batch: Any
    messages: Any
    reader: Any
    codecs: frozenset[Codec]

    def write_batch(self, found: Iterable[Record], codec: Codec) -> bytes:
        builder = self.batch(
            magic=2,
            compression_type=codec,
            is_transactional=False,
            producer_id=5,
            producer_epoch=1,
            base_sequence=0,
            batch_size=ROOM,
        )
        for record in found:
            row = (record.timestamp, record.key, record.value, list(record.headers))
            assert builder.append(record.offset, *row)
        return bytes(builder.build())

    def write_messages(self, found: Iterable[Record], magic: int, codec: Codec) -> bytes:
        builder = self.messages(magic=magic, compression_type=codec, batch_size=ROOM)
        for record in found:
            assert builder.append(record.offset, record.timestamp, record.key, record.value)
        return bytes(builder.build())

    def read(self, data: bytes) -> list[Record]:
        reader = self.reader(data)
        found = []
        while reader.has_next():
            batch = reader.next_batch()
            assert batch.validate_crc()
            found += [_record(record) for record in batch]
        return found


def _record(record: Any) -> Record:
    time = -1 if record.timestamp is None else record.timestamp
    return Record(record.offset, time, record.key, record.value, tuple(record.headers))


AIOKAFKA = Oracle("aiokafka", AiokafkaBatch, AiokafkaMessages, AiokafkaReader, frozenset(Codec))
# Without extra libraries kafka-python speaks gzip only.
KAFKA_PYTHON = Oracle(
    "kafka-python",
    KafkaPythonBatch,
    KafkaPythonMessages,
    KafkaPythonReader,
    frozenset((Codec.NONE, Codec.GZIP)),
)
ORACLES = [AIOKAFKA, KAFKA_PYTHON]
