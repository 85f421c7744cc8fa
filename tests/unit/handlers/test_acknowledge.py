"""The short way to the answer for one stored batch gives what the message table gives."""

import asyncio
import uuid

import pytest

from samsa.data_path.acknowledge import FIRST_WITH_NUMBERS, response, stored_alone
from samsa.data_path.appends import Pending, Terms
from samsa.log.admit import Outcome, Refusal
from samsa.log.writer import Appending
from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages.produce import PARTITION_RESPONSE, RESPONSE, TOPIC, TOPIC_RESPONSE

VERSIONS = APIS[ApiKey.PRODUCE].versions
ROW = TOPIC(name="letters", topic_id=uuid.UUID(int=77))


def stored(outcome: Outcome, index: int = 3, appended_at: int = -1) -> Pending:
    result = Appending(loop=asyncio.get_running_loop())
    result.set_result(outcome)
    return Pending(ROW, index, result, appended_at)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("numbers", [(0, -1, 0), (2**40, 1_700_000_000_000, 2**33)], ids=str)
async def test_it_is_what_the_table_gives(version: int, numbers: tuple[int, int, int]):
    offset, time, log_start = numbers
    partition = PARTITION_RESPONSE(
        index=3, base_offset=offset, log_append_time_ms=time, log_start_offset=log_start
    )
    topic = TOPIC_RESPONSE(name=ROW.name, topic_id=ROW.topic_id, partition_responses=[partition])
    expected = RESPONSE.encode_bytes(version, RESPONSE(responses=[topic]))
    pending = [stored(Outcome(offset, log_start), appended_at=time)]
    assert RESPONSE.encode_bytes(version, response(pending)) == expected
    short = stored_alone(Terms(version, -1), pending)
    assert short == (expected if version >= FIRST_WITH_NUMBERS else None)


async def test_nobody_is_told_of_another_partition():
    terms = Terms(12, -1)
    answers = [stored_alone(terms, [stored(Outcome(5, 0), index)]) for index in (0, 1)]
    rows = [RESPONSE.decode(12, memoryview(answer or b"")) for answer in answers]
    assert [row.responses[0].partition_responses[0].index for row in rows] == [0, 1]


async def test_a_refusal_takes_the_long_way():
    pending = [stored(Outcome(-1, -1, Refusal.STALE_EPOCH))]
    assert stored_alone(Terms(12, -1), pending) is None
    (partition,) = response(pending).responses[0].partition_responses
    assert partition.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


async def test_several_batches_take_the_long_way():
    assert stored_alone(Terms(12, -1), [stored(Outcome(0, 0)), stored(Outcome(1, 0))]) is None


async def test_who_wants_no_answer_gets_none():
    assert stored_alone(Terms(12, 0), [stored(Outcome(0, 0))]) is None
