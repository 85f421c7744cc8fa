"""What a fleet writes to its topic: mostly positions that can be read, and some irregular records.

Some positions are late, some cannot be read. Now and then a truck leaves the fleet, which is a
tombstone (its key and no value), and a new truck replaces it. The same seed and start give the same
records, byte for byte.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from .position import HEAD, MARKER, TruckPosition, to_avro, to_json
from .trucks import Dice, drive, new_truck

JITTER_MS = 2_000
"""The longest time that a position takes to the topic, if it is not late."""
LATE_MS = (60_000, 1_800_000)
NOWHERE = 999.0
"""No latitude."""


class Form(StrEnum):
    JSON = "json"
    AVRO = "avro"
    MIXED = "mixed"


class RecordKind(StrEnum):
    GOOD = "good"
    LATE = "late"
    BAD = "bad"
    GONE = "gone"


class ToldRecord(NamedTuple):
    """A record, and what the generator knows about it."""

    key: bytes
    value: bytes | None
    timestamp: int
    kind: RecordKind
    position: TruckPosition | None
    """What can be read from it; None if nothing can."""


@dataclass(frozen=True, slots=True)
class Plot:
    trucks: int = 20
    form: Form = Form.JSON
    bad: float = 0.01
    late: float = 0.01
    gone: float = 0.0002
    """The share of records that are each of these."""
    start_ms: int = 0
    step_ms: float = 10.0
    """Time from one record to the next."""


def tell(plot: Plot, dice: Dice) -> Iterator[ToldRecord]:
    """Endless."""
    fleet = [new_truck(number, plot.start_ms, dice) for number in range(plot.trucks)]
    hired, told = plot.trucks, 0
    while True:
        at = plot.start_ms + round(told * plot.step_ms)
        place = told % plot.trucks
        truck, chance = fleet[place], dice.random()
        told += 1
        drive(truck, at, dice)
        if chance < plot.gone:
            fleet[place] = new_truck(hired, at, dice)
            hired += 1
            yield ToldRecord(truck.name.encode(), None, at, RecordKind.GONE, None)
        elif chance < plot.gone + plot.bad:
            position = truck.report(at)
            yield ToldRecord(
                truck.name.encode(), _bad(plot, position, dice), at, RecordKind.BAD, None
            )
        else:
            late = chance < plot.gone + plot.bad + plot.late
            back = dice.uniform(*LATE_MS) if late else dice.uniform(0, JITTER_MS)
            position = truck.report(at - round(back))
            kind = RecordKind.LATE if late else RecordKind.GOOD
            yield ToldRecord(truck.name.encode(), _encode(plot, position, dice), at, kind, position)


def _encode(plot: Plot, position: TruckPosition, dice: Dice) -> bytes:
    return to_avro(position) if _in_avro(plot, dice) else to_json(position)


def _bad(plot: Plot, position: TruckPosition, dice: Dice) -> bytes:
    ways = BAD_AVRO if _in_avro(plot, dice) else BAD_JSON
    return dice.choice(ways)(position)


def _in_avro(plot: Plot, dice: Dice) -> bool:
    return plot.form == Form.AVRO or (plot.form == Form.MIXED and dice.random() < 0.5)


def _cut_json(position: TruckPosition) -> bytes:
    return to_json(position)[:-20]


def _nameless(position: TruckPosition) -> bytes:
    fields = json.loads(to_json(position))
    del fields["truck_id"]
    return json.dumps(fields).encode()


def _speed_in_words(position: TruckPosition) -> bytes:
    return json.dumps(json.loads(to_json(position)) | {"speed_kmh": "fast"}).encode()


def _json_from_nowhere(position: TruckPosition) -> bytes:
    return to_json(position._replace(latitude=NOWHERE))


def _cut_avro(position: TruckPosition) -> bytes:
    return to_avro(position)[:-5]


def _unknown_schema(position: TruckPosition) -> bytes:
    return MARKER + bytes(8) + to_avro(position)[len(HEAD) :]


def _avro_from_nowhere(position: TruckPosition) -> bytes:
    return to_avro(position._replace(latitude=NOWHERE))


Way = Callable[[TruckPosition], bytes]
BAD_JSON: tuple[Way, ...] = (_cut_json, _nameless, _speed_in_words, _json_from_nowhere)
BAD_AVRO: tuple[Way, ...] = (_cut_avro, _unknown_schema, _avro_from_nowhere)
