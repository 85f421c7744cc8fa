"""A fleet of trucks on their way between cities.

They drive towards a city, each at its own speed, slow down in traffic, and choose another city when
they arrive. The calculation takes the earth as flat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, hypot, radians, sin
from typing import NamedTuple, Protocol, TypeVar

from .position import TruckPosition

T = TypeVar("T")
KM_PER_DEGREE = 111.2
SLOWEST, FASTEST = 62.0, 92.0
"""The range of the trucks' own speeds, in km/h."""
LIMIT = 110.0
JAM, JAM_SPEED = 0.02, 8.0
"""The probability of a traffic jam in a step of a second or more, and the speed in it."""
CALM_S = 60.0
"""How long it takes until a truck is at its own speed again."""


class Dice(Protocol):
    """The part of `random.Random` that is used here."""

    def random(self) -> float: ...
    def gauss(self, mu: float, sigma: float, /) -> float: ...
    def uniform(self, a: float, b: float, /) -> float: ...
    def choice(self, seq: Sequence[T], /) -> T: ...


class City(NamedTuple):
    latitude: float
    longitude: float


CITIES = (
    City(52.52, 13.40),  # Berlin
    City(53.55, 9.99),  # Hamburg
    City(48.14, 11.58),  # Munich
    City(50.11, 8.68),  # Frankfurt
    City(50.09, 14.42),  # Prague
    City(48.21, 16.37),  # Vienna
    City(52.23, 21.01),  # Warsaw
    City(52.37, 4.90),  # Amsterdam
    City(47.38, 8.54),  # Zurich
    City(45.46, 9.19),  # Milan
)


@dataclass(slots=True)
class Truck:
    name: str
    latitude: float
    longitude: float
    goal: City
    pace: float
    speed: float
    heading: float
    at_ms: int

    def report(self, event_ms: int) -> TruckPosition:
        """Its position at an earlier time, back along its way."""
        back = self.speed * (self.at_ms - event_ms) / 3_600_000
        turned = radians(self.heading)
        north, east = -back * cos(turned), -back * sin(turned)
        return TruckPosition(
            self.name,
            event_ms,
            round(self.latitude + north / KM_PER_DEGREE, 5),
            round(self.longitude + east / _km_per_degree_east(self.latitude), 5),
            round(self.speed, 1),
            round(self.heading, 1) % 360,
        )


def new_truck(number: int, at_ms: int, dice: Dice) -> Truck:
    start, goal = dice.choice(CITIES), dice.choice(CITIES)
    done, pace = dice.random(), dice.uniform(SLOWEST, FASTEST)
    latitude = start.latitude + done * (goal.latitude - start.latitude)
    longitude = start.longitude + done * (goal.longitude - start.longitude)
    return Truck(f"truck-{number:03d}", latitude, longitude, goal, pace, pace, 0.0, at_ms)


def drive(truck: Truck, at_ms: int, dice: Dice) -> None:
    """Move it on to this time."""
    seconds = (at_ms - truck.at_ms) / 1000
    truck.at_ms = at_ms
    truck.speed = _speed(truck, seconds, dice)
    while _arrived(truck, truck.speed * seconds / 3600):
        truck.goal = dice.choice(CITIES)
        seconds = 0.0


def _speed(truck: Truck, seconds: float, dice: Dice) -> float:
    if dice.random() < JAM * min(1.0, seconds):
        return JAM_SPEED
    nearer = (truck.pace - truck.speed) * min(1.0, seconds / CALM_S)
    shaken = dice.gauss(0.0, min(2.0, seconds))
    return min(LIMIT, max(0.0, truck.speed + nearer + shaken))


def _arrived(truck: Truck, km: float) -> bool:
    north = (truck.goal.latitude - truck.latitude) * KM_PER_DEGREE
    east = (truck.goal.longitude - truck.longitude) * _km_per_degree_east(truck.latitude)
    distance = hypot(north, east)
    if km >= distance:
        truck.latitude, truck.longitude = truck.goal
        return True
    truck.heading = degrees(atan2(east, north)) % 360
    truck.latitude += (truck.goal.latitude - truck.latitude) * km / distance
    truck.longitude += (truck.goal.longitude - truck.longitude) * km / distance
    return False


def _km_per_degree_east(latitude: float) -> float:
    return KM_PER_DEGREE * cos(radians(latitude))
