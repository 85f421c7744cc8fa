"""Hostile records, on Apache Kafka 4.3.1 and on Samsa: the same answers, or a reason why not."""

from collections.abc import Iterator

import pytest
from server.peer import Peer
from server.talk import append, create, read, records_in
from support.broker import Broker, samsa_up
from support.hostile_records import CASES, STORED

from samsa.wire.errors import ErrorCode

TOPIC = "hostile"


@pytest.fixture(scope="module")
def both(
    apache_kafka: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Peer, Peer]]:
    with (
        samsa_up(tmp_path_factory.mktemp("samsa")) as samsa,
        Peer(apache_kafka.address) as theirs,
        Peer(samsa.address) as ours,
    ):
        for peer in (theirs, ours):
            create(peer, TOPIC)
        yield theirs, ours


@pytest.mark.parametrize("name", CASES)
def test_hostile_records_are_answered_as_kafka_answers_them(
    both: tuple[Peer, Peer], name: str
) -> None:
    case = CASES[name]
    theirs, ours = (append(peer, TOPIC, case.data) for peer in both)
    assert ErrorCode(theirs.error_code) is case.kafka
    assert ErrorCode(ours.error_code) is case.expected


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.kafka is case.expected is STORED]
)
def test_what_both_store_has_the_same_times(both: tuple[Peer, Peer], name: str) -> None:
    found = []
    for peer in both:
        offset = append(peer, TOPIC, CASES[name].data).base_offset
        records = records_in(read(peer, TOPIC, offset).records)
        found.append([record.timestamp for record in records if record.offset >= offset])
    assert found[0] == found[1]
