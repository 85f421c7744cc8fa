"""The three operations on a partition, as requests to one process. Each is sent once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from histories.recording import NoAnswer, Result
from server.peer import Peer
from server.talk import (
    LATEST,
    batch,
    fetch_row,
    offset_at,
    produce_row,
    records_in,
)

from samsa.records import headers
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import init_producer_id


class Link:
    """A connection. After NoAnswer it is closed: what comes late is nobody's answer."""

    def __init__(self, address: tuple[str, int], topic: str, patience_s: float) -> None:
        """Raises OSError if nobody listens there."""
        self._topic = topic
        self._peer = Peer(address)
        self._peer.socket.settimeout(patience_s)

    def append(self, values: Sequence[bytes], partition: int, **producer: int) -> Result:
        row = produce_row(self._topic, batch(*values, **producer), partition)
        with self._unknown_if_it_fails():
            answer = self._peer.ask(ApiKey.PRODUCE, 9, row).responses[0].partition_responses[0]
            accept(answer)
        return {"offset": answer.base_offset}

    def read(self, offset: int, partition: int, **more: int) -> Result:
        row = fetch_row(self._topic, offset, (partition,), **more)
        with self._unknown_if_it_fails():
            answer = self._peer.ask(ApiKey.FETCH, 12, row).responses[0].partitions[0]
            accept(answer, ErrorCode.OFFSET_OUT_OF_RANGE)
        found = [record for record in records_in(answer.records) if record.offset >= offset]
        batches = headers(answer.records or b"")
        return {
            "offsets": [record.offset for record in found],
            "values": [name_of(record.value) for record in found],
            "through": batches[-1][1].next_offset if batches else offset,
            "end": answer.high_watermark,
        }

    def end(self, partition: int) -> Result:
        with self._unknown_if_it_fails():
            answer = offset_at(self._peer, self._topic, LATEST, partition)
            accept(answer)
        return {"end": answer.offset}

    def new_producer_id(self) -> int:
        row = init_producer_id.REQUEST(transactional_id=None, transaction_timeout_ms=60_000)
        with self._unknown_if_it_fails():
            answer = self._peer.ask(ApiKey.INIT_PRODUCER_ID, 4, row)
            accept(answer)
        return int(answer.producer_id)

    def close(self) -> None:
        self._peer.close()

    @contextmanager
    def _unknown_if_it_fails(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            self.close()
            raise NoAnswer("timed out") from None
        except (OSError, EOFError):
            self.close()
            raise NoAnswer("cut off") from None


def accept(answer: Any, *others: ErrorCode) -> None:
    if answer.error_code not in (ErrorCode.NONE, *others):
        raise NoAnswer(ErrorCode(answer.error_code).name)


def name_of(value: bytes | None) -> str:
    """Values are unique by their first word; the rest is padding."""
    return (value or b"nothing").split()[0].decode()
