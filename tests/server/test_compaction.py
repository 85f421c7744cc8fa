"""Compacted topics: what may be written to them, and what becomes of it."""

from collections.abc import Iterator

import pytest
from server.message_sets import message_set
from server.process import Samsa, a_samsa
from server.talk import NOW, append, create, end_of, everything, start_of, values
from support.waiting import eventually

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
        assert ErrorCode(answer.error_code) is ErrorCode.INVALID_RECORD


@pytest.fixture(scope="module")
def tidy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Samsa]:
    """A broker that looks after its logs all the time, their newest end included."""
    options = ("--upkeep-interval", "0.2", "--settle-time", "0.1")
    with a_samsa(tmp_path_factory.mktemp("tidy"), *options) as samsa:
        yield samsa


def test_a_compacted_topic_keeps_the_newest_of_every_key(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, cleanup_policy="compact", min_cleanable_dirty_ratio="0.01")
        for n in range(60):
            data = keyed((b"k%d" % (n % 5), b"v%d" % n), (b"k9", None), codec=n % 5)
            assert append(peer, new_name, data).error_code == ErrorCode.NONE
        assert eventually(lambda: len(everything(peer, new_name)) == 6)
        found = everything(peer, new_name)
        assert [(r.offset, r.key, r.value) for r in found] == [
            *((110 + 2 * n, b"k%d" % n, b"v%d" % (55 + n)) for n in range(5)),
            (119, b"k9", None),
        ]
        assert (start_of(peer, new_name), end_of(peer, new_name)) == (0, 120)
        # Offsets go on, and what is new is compacted too.
        assert append(peer, new_name, keyed((b"k0", b"newer"))).base_offset == 120
        assert eventually(lambda: len(everything(peer, new_name)) == 6)
        assert everything(peer, new_name)[-1].value == b"newer"


def test_a_topic_that_is_not_compacted_keeps_everything(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, f"{new_name}-compacted", cleanup_policy="compact")
        create(peer, new_name)
        for name in (new_name, f"{new_name}-compacted"):
            for n in range(4):
                append(peer, name, keyed((b"a", b"%d" % n)))
        assert eventually(lambda: len(everything(peer, f"{new_name}-compacted")) == 1)
        assert values(everything(peer, new_name)) == [b"0", b"1", b"2", b"3"]


def test_what_is_younger_than_its_lag_stays(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, f"{new_name}-eager", cleanup_policy="compact")
        create(peer, new_name, cleanup_policy="compact", min_compaction_lag_ms="86400000")
        for name in (new_name, f"{new_name}-eager"):
            append(peer, name, keyed((b"a", b"1"), (b"a", b"2")))
        assert eventually(lambda: len(everything(peer, f"{new_name}-eager")) == 1)
        assert values(everything(peer, new_name)) == [b"1", b"2"]


def test_tombstones_go_when_their_time_is_up(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, cleanup_policy="compact", min_cleanable_dirty_ratio="0",
               delete_retention_ms="500")  # fmt: skip
        append(peer, new_name, keyed((b"gone", b"1"), (b"stays", b"1"), (b"gone", None)))
        seen = set()

        def gone() -> bool:
            append(peer, new_name, keyed((b"tick", b"")))
            found = {record.key for record in everything(peer, new_name)}
            seen.update(r.value for r in everything(peer, new_name) if r.key == b"gone")
            return found == {b"stays", b"tick"}

        assert eventually(gone)
        assert None in seen


def test_compact_and_delete_do_both(tidy: Samsa, new_name: str) -> None:
    with tidy.peer() as peer:
        create(peer, new_name, cleanup_policy="compact,delete", retention_ms="7200000")
        old = [Record(n, NOW - 86_400_000, b"old-%d" % n, b"") for n in range(3)]
        append(peer, new_name, build(old))
        # Before anything young joins them: they would go together.
        assert eventually(lambda: start_of(peer, new_name) == 3)
        append(peer, new_name, keyed((b"a", b"1"), (b"a", b"2")))
        assert eventually(lambda: values(everything(peer, new_name, offset=3)) == [b"2"])
        assert start_of(peer, new_name) == 3


def test_a_short_lag_and_a_short_retention_do_not_wait_for_the_next_round(
    samsa: Samsa, new_name: str
) -> None:
    """The broker looks after all partitions every 300 s, and leaves the newest 60 s alone."""
    with samsa.peer() as peer:
        create(peer, new_name, cleanup_policy="compact", max_compaction_lag_ms="100")
        create(peer, f"{new_name}-short", retention_ms="1000")
        for name in (new_name, f"{new_name}-short"):
            append(peer, name, keyed((b"a", b"1"), (b"a", b"2"), (b"b", b"3")))
        assert eventually(lambda: values(everything(peer, new_name)) == [b"2", b"3"], 20)
        assert eventually(lambda: start_of(peer, f"{new_name}-short") == 3, 20)
