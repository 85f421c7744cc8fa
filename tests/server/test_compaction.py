"""Compacted topics: what may be written to them, and what becomes of it."""

import pytest
from server.message_sets import message_set
from server.process import Samsa
from server.talk import NOW, append, create, everything, values

from samsa.records.batch import read_header, seal
from samsa.records.compression import Codec
from samsa.records.record import Record, build
from samsa.wire.errors import ErrorCode


def keyed(*pairs: tuple[bytes | None, bytes | None], **more: int) -> bytes:
    return build([Record(n, NOW + n, *pair) for n, pair in enumerate(pairs)], **more)


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("policy", ["compact", "compact,delete", "delete, compact"])
def test_a_record_without_a_key_is_refused(samsa: Samsa, new_name: str, policy, codec) -> None:
    with samsa.peer() as peer:
        create(peer, new_name, cleanup_policy=policy)
        data = keyed((b"a", b"1"), (None, b"2"), (b"", b"3"), (None, None), codec=codec)
        answer = append(peer, new_name, data)
        assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD
        assert answer.error_message == "One or more records have been rejected"
        why = "Compacted topic cannot accept message without key in topic partition"
        found = [(e.batch_index, e.batch_index_error_message) for e in answer.record_errors]
        assert found == [(1, f"{why} {new_name}-0"), (3, f"{why} {new_name}-0")]
        assert append(peer, new_name, keyed((b"", None), codec=codec)).base_offset == 0
        assert values(everything(peer, new_name)) == [None]


@pytest.mark.parametrize("magic", [0, 1])
def test_an_old_clients_message_without_a_key_is_refused_too(
    samsa: Samsa, new_name: str, magic
) -> None:
    with samsa.peer() as peer:
        create(peer, new_name, cleanup_policy="compact")
        pairs = [(b"a", b"1"), (None, b"2")]
        answer = append(peer, new_name, message_set(magic, pairs, Codec.NONE, NOW), version=2)
        assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD
        answer = append(peer, new_name, message_set(magic, pairs[:1], Codec.NONE, NOW), version=2)
        assert answer.base_offset == 0


def test_older_answers_have_only_the_error(samsa: Samsa, new_name: str) -> None:
    with samsa.peer() as peer:
        create(peer, new_name, cleanup_policy="compact")
        answer = append(peer, new_name, keyed((None, b"1")), version=7)
        assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("policy", ["delete", ""])
def test_other_topics_take_records_without_keys(samsa: Samsa, new_name: str, policy) -> None:
    with samsa.peer() as peer:
        create(peer, new_name, **({"cleanup_policy": policy} if policy else {}))
        assert append(peer, new_name, keyed((None, b"1"))).error_code == ErrorCode.NONE


def test_records_that_are_none_are_refused_where_they_are_looked_at(
    samsa: Samsa, new_name: str
) -> None:
    good = keyed((b"a", b"1"), (b"b", b"2"))
    with samsa.peer() as peer:
        create(peer, new_name, cleanup_policy="compact")
        answer = append(peer, new_name, seal(read_header(good), good[61:-4]))
        assert ErrorCode(answer.error_code) is ErrorCode.CORRUPT_MESSAGE
