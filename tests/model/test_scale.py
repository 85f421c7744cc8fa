"""The simulation behind docs/scale.md: its limits hold, its arithmetic agrees, so does the page."""

from dataclasses import fields, replace
from math import inf
from pathlib import Path

import pytest

from scale import arithmetic, tables
from scale.loop import Loop, Pool
from scale.meters import Bucket, Buckets
from scale.run import Run, play
from scale.setting import PROCESSES, Limits, Setting
from scale.sums import SUMS
from scale.world import world

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
SILENT = {"beat": inf, "commit": inf, "metadata": inf, "refresh": inf, "look": inf}
ONE = Setting(partitions=1, clients=10, producing=1.0, processes=3).but(
    **SILENT, has_back_pressure=True
)
"""One partition, ten producers, nobody who reads."""
FLAT = Setting(partitions=200, clients=600, producing=1.0, skew=0.0, seconds=2.0).but(**SILENT)
"""No partition is more popular than another."""


class Watched(Bucket):
    """Remembers what it admitted."""

    def __init__(self, rate, burst):
        super().__init__(rate, burst)
        self.admissions = []

    def take(self, now, units):
        at = super().take(now, units)
        self.admissions.append((at, units))
        return at


def most_within(admissions, seconds):
    """The most units that were admitted within so many seconds, wherever these begin."""
    admissions = sorted(admissions)
    most = within = first = 0
    for at, units in admissions:
        within += units
        while admissions[first][0] < at - seconds:
            within -= admissions[first][1]
            first += 1
        most = max(most, within)
    return most


def test_no_limit_is_ever_exceeded_by_more_than_its_burst():
    setting = FLAT.but(appends=400, table_writes=2_000, table_reads=500, requests=350)
    run = Run(setting)
    limits, burst = setting.limits, setting.times.burst
    run.stores.table_writes = Watched(limits.table_writes, burst)
    run.stores.table_reads = Watched(limits.table_reads, burst)
    run.shape.requests = Watched(limits.requests, burst)
    run.play()
    for bucket in (run.stores.table_writes, run.stores.table_reads, run.shape.requests):
        assert len(bucket.admissions) > 500
        for seconds in (0.5, 2.0):
            largest = max(units for _, units in bucket.admissions)
            allowed = bucket.rate * (seconds + burst) + largest
            assert most_within(bucket.admissions, seconds) <= allowed


def test_a_bucket_that_is_asked_for_more_admits_just_its_rate():
    bucket = Bucket(100, burst=1.0)
    admitted = [bucket.take(10.0, 1) for _ in range(300)]
    assert sum(at <= 10.0 for at in admitted) == pytest.approx(100, abs=1)
    assert max(admitted) == pytest.approx(12.0)


def test_one_key_of_many_that_is_full_does_not_delay_the_others():
    keys = Buckets(3, 10, burst=1.0)
    assert keys.take(1, 5.0, 100) > 10.0
    assert keys.take(2, 5.0, 1) == 5.0


def test_no_more_than_its_places_are_in_a_pool():
    loop, inside, most = Loop(), 0, 0
    pool = Pool(loop, 3)

    def work():
        nonlocal inside, most
        yield pool.enter()
        inside += 1
        most = max(most, inside)
        yield loop.now + 1.0
        inside -= 1
        pool.leave()

    for _ in range(10):
        loop.start(work())
    loop.run(3.5)
    assert (most, inside) == (3, 1)
    loop.run(4.5)
    assert inside == 0


@pytest.mark.parametrize(
    "setting",
    [
        FLAT.but(appends=300),
        FLAT.but(appends=300, size=16_000),
        FLAT.but(appends=300, shape=PROCESSES, window=0.1, has_hints=True),
    ],
    ids=["functions", "objects", "processes"],
)
def test_littles_law_holds(setting):
    """Under way on average: how many come, times how long each stays."""
    figures = play(setting.but(seconds=20.0))
    assert figures.appends == pytest.approx(setting.appends, rel=0.05)
    assert figures.under_way == pytest.approx(figures.appends * figures.mean_s, rel=0.03)


@pytest.mark.parametrize("size", [1_000, 16_000])
def test_a_hot_head_saturates_where_the_arithmetic_says(size):
    most = 1_000 / arithmetic.key_writes(10, 0, size, ONE.design)
    half = play(ONE.but(size=size, appends=most / 2, seconds=60.0))
    assert not half.saturated
    assert half.appends / half.use["key_writes"] == pytest.approx(most, rel=0.05)
    beyond = play(ONE.but(size=size, appends=most * 1.5, seconds=20.0))
    assert beyond.saturated == ["key_writes"]
    assert beyond.appends < most * 1.1


def test_a_throttled_head_collapses_unless_its_tail_is_settled_first():
    safe = ONE.but(appends=150)
    collapsed = play(safe.but(has_back_pressure=False))
    assert play(safe).appends > 2 * collapsed.appends
    assert collapsed.largest_head > 60_000


def test_a_window_makes_updates_of_a_hot_head_independent_of_its_appends():
    window = ONE.but(shape=PROCESSES, has_hints=True, window=0.25, seconds=20.0)
    few, many = play(window.but(appends=200)), play(window.but(appends=2_000))
    assert many.appends == pytest.approx(2_000, rel=0.1)
    assert many.use["key_writes"] == pytest.approx(few.use["key_writes"], rel=0.2)


FIRST = {
    "requests": FLAT.but(appends=400, requests=200),
    "invocations": FLAT.but(appends=400, functions=100, invocations_each=2),
    "functions": FLAT.but(appends=400, functions=3, invocations_each=1_000),
    "table_writes": FLAT.but(appends=400, table_writes=2_000),
    "table_reads": FLAT.but(appends=400, table_reads=300),
    "key_writes": ONE.but(appends=300),
    "puts": FLAT.but(appends=400, size=16_000, puts=200),
    "network": FLAT.but(appends=400, shape=PROCESSES, processes=2, network=200_000),
}
LIMITS = [field.name for field in fields(Limits)]
RAISES = {"invocations": ("invocations_each", "functions"), "puts": ("puts", "prefixes")}
"""The limits that raise what is named, where it is not that one alone."""


@pytest.mark.parametrize("name", FIRST)
def test_doubling_the_limit_that_is_named_helps_and_doubling_another_does_not(name):
    setting = FIRST[name]
    before = play(setting)
    assert before.saturated[0] == name
    assert before.appends < 0.8 * setting.appends
    for limit in LIMITS:
        after = play(setting.but(**{limit: 2 * getattr(setting.limits, limit)}))
        gained = after.appends / before.appends
        raised = limit in RAISES.get(name, (name,))
        assert gained > 1.25 if raised else gained < 1.12, (limit, gained)


def test_the_arithmetic_of_an_append_agrees_with_what_is_counted():
    setting = FLAT.but(appends=300, seconds=30.0)
    figures, cost = play(setting), arithmetic.appends_cost(setting)
    limits = setting.limits
    assert figures.use["table_writes"] * limits.table_writes == pytest.approx(
        cost.table_writes, rel=0.1
    )
    assert figures.use["table_reads"] * limits.table_reads == pytest.approx(
        cost.table_reads, rel=0.1
    )
    assert figures.use["functions"] * limits.functions == pytest.approx(cost.functions, rel=0.1)


def test_where_clients_ask_for_more_than_there_is_appends_get_their_share():
    noisy = Setting(partitions=10_000, clients=20_000, appends=200, producing=0.5, skew=0.0)
    wanted = arithmetic.presence_cost(noisy).requests
    each = 1 / 3 + 1 / 5 + 1 / 30
    assert wanted == pytest.approx(10_000 * each + 20_000 / 300, rel=0.01)
    figures = play(noisy.but(requests=wanted / 2, has_standing_watchers=True))
    assert figures.saturated[0] == "requests"
    assert figures.use["requests"] == pytest.approx(1.0, abs=0.05)
    assert figures.appends == pytest.approx(noisy.appends / 2, rel=0.25)


def test_of_two_limits_that_are_reached_the_one_more_in_demand_is_named_first():
    figures = play(FLAT.but(appends=100))
    both = replace(figures, use={"puts": 1.0, "gets": 1.0, "requests": 0.9})
    asked = replace(both, demand={"puts": 1.1, "gets": 3.0, "requests": 9.0})
    assert asked.saturated == ["gets", "puts"]


def test_the_same_seed_gives_the_same_figures_and_another_gives_others():
    setting = FLAT.but(appends=200)
    assert play(setting) == play(setting)
    assert play(setting) != play(setting.but(seed=2))


def test_a_hundred_thousand_partitions_and_a_million_clients_are_there():
    here = world(Setting())
    assert here.partitions == 100_000
    assert len(here.partition_of) + here.consumers == 1_000_000
    hottest = here.producers[0] / len(here.partition_of)
    assert hottest == pytest.approx(1 / sum(1 / rank for rank in range(1, 100_001)), rel=0.01)
    spread = world(Setting(largest_share=0.001))
    assert max(spread.producers) <= 0.0011 * len(spread.partition_of)


def shown(name):
    """The lines of the page's table of that name."""
    page = PAGE.read_text().splitlines()
    start = page.index(f"<!-- python -m scale --table {name} -->") + 1
    return page[start : page.index("", start)]


def test_the_page_has_the_figures_that_the_simulation_prints():
    assert shown("one-partition") == list(tables.lines("one-partition"))


@pytest.mark.parametrize("name", SUMS)
def test_the_page_has_the_sums_of_the_arithmetic(name):
    assert shown(name) == list(SUMS[name]())


@pytest.mark.parametrize("name", tables.TABLES)
def test_the_page_has_a_row_for_every_setting_of_a_table(name):
    rows = list(tables.TABLES[name]())
    for row, text in zip(rows, shown(name)[2:], strict=True):
        assert text.startswith(f"| {row.label} | {row.setting.appends:,.0f} |")
