"""What one request may make a broker do, on a real one."""

import signal
from contextlib import ExitStack
from pathlib import Path

from attacks import budget
from attacks.bystander import TICK_S, cpu_s
from server.process import a_samsa
from server.talk import append, batch, create
from support.waiting import eventually

from samsa.records.compression import Codec
from samsa.wire.apis import ApiKey
from samsa.wire.errors import ErrorCode
from samsa.wire.messages import create_topics, metadata

WIDE = 6_000
"""Partitions: more than are encoded in one go."""


def names(count: int) -> list[object]:
    return [metadata.TOPIC(name=f"n{number}") for number in range(count)]


def asked_for(count: int) -> object:
    return metadata.REQUEST(topics=names(count), allow_auto_topic_creation=False)


def test_a_request_over_the_limit_ends_its_connection_and_is_counted(tmp_path: Path) -> None:
    options = ("--max-request-elements", "3000", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa:
        with samsa.peer() as peer:
            assert len(peer.ask(ApiKey.METADATA, 9, asked_for(3_000)).topics) == 3_000
            peer.send(ApiKey.METADATA, 9, asked_for(3_001))
            assert peer.is_closed()
        assert samsa.metrics()['samsa_refused_total{limit="elements"}'] == 1
        assert any("too many elements" in line for line in samsa.logged())


def test_an_answer_of_many_elements_is_whole(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, samsa.peer() as peer:
        create(peer, "wide", WIDE)
        (topic,) = peer.ask(ApiKey.METADATA, 9, metadata.REQUEST(topics=None)).topics
        assert [one.partition_index for one in topic.partitions] == list(range(WIDE))


def test_records_that_unpack_to_more_than_the_limit_are_refused_and_counted(tmp_path: Path) -> None:
    options = ("--max-unpacked-bytes", "1000000", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa:
        with samsa.peer() as peer:
            create(peer, "packed")
            found = [
                ErrorCode(append(peer, "packed", batch(bytes(size), codec=codec)).error_code)
                for codec in (Codec.GZIP, Codec.ZSTD)
                for size in (900_000, 1_100_000)
            ]
        stored, too_large = ErrorCode.NONE, ErrorCode.MESSAGE_TOO_LARGE
        # Zstandard does not say why it stopped.
        assert found == [stored, too_large, stored, ErrorCode.INVALID_RECORD]
        assert samsa.metrics()['samsa_refused_total{limit="unpacked bytes"}'] == 1


def test_totals_are_flags_and_what_they_refuse_is_counted(tmp_path: Path) -> None:
    options = ("--max-topics", "2", "--max-partitions", "5", "--metrics-port", "0")
    with a_samsa(tmp_path, *options) as samsa:
        with samsa.peer() as peer:
            topics = [
                create_topics.TOPIC(name=name, num_partitions=partitions, replication_factor=1)
                for name, partitions in (("a", 3), ("b", 3), ("c", 2), ("d", 1))
            ]
            row = create_topics.REQUEST(topics=topics, timeout_ms=10_000)
            answer = peer.ask(ApiKey.CREATE_TOPICS, 5, row)
            assert [topic.error_code for topic in answer.topics] == [0, 44, 0, 44]
        metrics = samsa.metrics()
        assert metrics['samsa_refused_total{limit="partitions"}'] == 1
        assert metrics['samsa_refused_total{limit="topics"}'] == 1


def test_sigterm_is_heard_while_long_requests_are_worked_on(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa, ExitStack() as peers:
        for _ in range(5):
            peers.enter_context(samsa.peer()).say(budget._describe_groups())
            peers.enter_context(samsa.peer()).say(budget._metadata(budget.ALLOWED, 90))
        samsa.process.send_signal(signal.SIGTERM)
        assert samsa.process.wait(30) == 0
    assert "Traceback" not in samsa.said()


def test_sigterm_is_heard_while_a_pattern_is_matched(tmp_path: Path) -> None:
    with a_samsa(tmp_path) as samsa:
        budget._send(samsa, *budget._many())
        with samsa.peer() as peer:
            before = cpu_s(samsa.pid)
            peer.say(budget._beat(0, "(.*)" * 1_000))
            eventually(lambda: cpu_s(samsa.pid) >= before + 3 * TICK_S)
            samsa.process.send_signal(signal.SIGTERM)
            assert samsa.process.wait(30) == 0
    assert "Traceback" not in samsa.said()
