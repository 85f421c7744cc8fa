"""The story of the trucks: the same for the same seed, true to itself, and readable by others."""

import json
from io import BytesIO
from itertools import islice, pairwise
from math import cos, hypot, radians
from random import Random

import pytest

from samsa_broker.demo.position import (
    CANONICAL,
    HEAD,
    SCHEMA,
    TruckPosition,
    fingerprint,
    to_avro,
    to_json,
)
from samsa_broker.demo.story import Form, Plot, RecordKind, ToldRecord, tell
from samsa_broker.demo.trucks import KM_PER_DEGREE, LIMIT

START = 1_767_225_600_000


def story(count: int, seed: int = 1, **plot: object) -> list[ToldRecord]:
    return list(islice(tell(Plot(start_ms=START, **plot), Random(seed)), count))  # type: ignore[arg-type]


def test_the_same_seed_tells_the_same_story_and_another_one_another():
    assert story(2_000, form=Form.MIXED) == story(2_000, form=Form.MIXED)
    assert story(2_000, seed=1) != story(2_000, seed=2)


def test_shares_are_kept():
    told = story(20_000, bad=0.05, late=0.1, gone=0.01)
    found = {kind: sum(one.kind == kind for one in told) / len(told) for kind in RecordKind}
    assert found[RecordKind.BAD] == pytest.approx(0.05, rel=0.2)
    assert found[RecordKind.LATE] == pytest.approx(0.1, rel=0.2)
    assert found[RecordKind.GONE] == pytest.approx(0.01, rel=0.4)


def test_times_go_on_by_the_step():
    told = story(100, step_ms=2.5)
    assert [one.timestamp for one in told] == [START + round(2.5 * n) for n in range(100)]


def test_good_values_say_what_the_story_knows():
    for one in story(500, form=Form.JSON):
        if one.position is not None:
            fields = json.loads(one.value)
            assert fields["event_timestamp"].endswith("Z")
            assert list(fields) == list(TruckPosition._fields)
            assert one.value == to_json(one.position)
            assert one.key == one.position.truck_id.encode()
            assert 0 <= one.position.heading < 360


def test_late_positions_are_older_than_a_minute_and_others_are_not():
    for one in story(5_000, late=0.1):
        if one.position is not None:
            late_by = one.timestamp - one.position.event_timestamp
            assert (late_by >= 60_000) == (one.kind == RecordKind.LATE)
            assert 0 <= late_by <= 1_800_000


def test_no_truck_is_faster_than_it_can_be():
    told = story(20_000, trucks=5, step_ms=1_000, late=0, gone=0, bad=0)
    for name in {one.key for one in told}:
        way = sorted((one.position for one in told if one.key == name), key=lambda p: p[1])
        for before, after in pairwise(way):
            hours = (after.event_timestamp - before.event_timestamp + 2_000) / 3_600_000
            assert _km(before, after) <= LIMIT * hours + 0.3


def _km(one: TruckPosition, other: TruckPosition) -> float:
    north = (other.latitude - one.latitude) * KM_PER_DEGREE
    east = (other.longitude - one.longitude) * KM_PER_DEGREE * cos(radians(one.latitude))
    return hypot(north, east)


def test_a_truck_that_left_does_not_come_back_and_another_takes_its_place():
    told = story(5_000, trucks=4, gone=0.01)
    left = [n for n, one in enumerate(told) if one.kind == RecordKind.GONE]
    assert len(left) > 10
    for number in left:
        assert told[number].value is None
        assert told[number].key not in {one.key for one in told[number + 1 :]}
    assert len({one.key for one in told}) >= 4 + len(left) - 1


def test_what_is_bad_cannot_be_read_as_a_position():
    fastavro = pytest.importorskip("fastavro", reason="it is the oracle: pip install ./pipeline")
    bad = [
        one.value for one in story(3_000, bad=0.5, form=Form.MIXED) if one.kind == RecordKind.BAD
    ]
    wrongs = {_wrong(value, fastavro) for value in bad}
    assert wrongs == {"cut", "nameless", "words", "nowhere", "cut avro", "schema", "nowhere avro"}


def _wrong(value: bytes, fastavro) -> str:
    return _wrong_avro(value, fastavro) if value.startswith(HEAD[:2]) else _wrong_json(value)


def _wrong_avro(value: bytes, fastavro) -> str:
    if not value.startswith(HEAD):
        return "schema"
    try:
        found = fastavro.schemaless_reader(BytesIO(value[len(HEAD) :]), SCHEMA, None)
    except EOFError:
        return "cut avro"
    assert found["latitude"] > 90
    return "nowhere avro"


def _wrong_json(value: bytes) -> str:
    try:
        found = json.loads(value)
    except ValueError:
        return "cut"
    if "truck_id" not in found:
        return "nameless"
    if not isinstance(found["speed_kmh"], float):
        return "words"
    assert found["latitude"] > 90
    return "nowhere"


def test_avro_is_what_others_take_for_avro():
    fastavro = pytest.importorskip("fastavro", reason="it is the oracle: pip install ./pipeline")
    from fastavro.schema import fingerprint as theirs
    from fastavro.schema import to_parsing_canonical_form

    assert to_parsing_canonical_form(SCHEMA) == CANONICAL
    mark = theirs(CANONICAL, "CRC-64-AVRO")
    assert fingerprint(CANONICAL.encode()).hex() == mark
    position = TruckPosition("truck-042", START + 123, 52.5, -13.25, 81.5, 359.9)
    body = BytesIO(to_avro(position)[len(HEAD) :])
    found = fastavro.schemaless_reader(body, SCHEMA, None)
    assert body.read() == b""
    assert round(found.pop("event_timestamp").timestamp() * 1000) == START + 123
    assert found == {k: v for k, v in position._asdict().items() if k != "event_timestamp"}
