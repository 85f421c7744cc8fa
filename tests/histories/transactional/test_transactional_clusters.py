"""Transactions through two processes that are killed and stopped, by clients that are killed, too:
all or nothing, once, in order, and none holds readers back for ever."""

from pathlib import Path

import pytest
from crash.seeds import seeded
from histories.cluster import Pair, on_dynamodb_and_s3, on_one_folder
from histories.transactional.functions import play_through
from histories.transactional.rounds import HELD_BACK_S, SLOW_MACHINE_S, play
from histories.transactional.telling import counts_of, figures
from support.chain import EMBEDDED, Environment, a_chain

SECONDS = 20
"""Of load."""
SECONDS_OF_FUNCTIONS = 5
pytestmark = pytest.mark.waits


def see_that_nothing_is_wrong(both: Pair, path: Path) -> None:
    played = play(both, path, seeded(), SECONDS)
    counts = counts_of(played)
    print(figures(counts))
    assert not played.verdict.anomalies, played.verdict.said
    assert played.held_back_s < HELD_BACK_S + SLOW_MACHINE_S
    assert counts["committed"] >= SECONDS / 2, "hardly anything was committed"
    assert counts["aborted"], "nothing was aborted"
    assert counts["copies"], "nothing was copied"
    assert counts["killed"], "no broker was killed"
    assert counts["stopped"], "no broker was stopped"


def test_transactions_on_one_folder_have_no_anomaly(tmp_path: Path) -> None:
    with on_one_folder(tmp_path) as both:
        see_that_nothing_is_wrong(both, tmp_path / "folder.jsonl")


def test_transactions_on_dynamodb_and_s3_have_no_anomaly(
    tmp_path: Path, stores: tuple[str, str]
) -> None:
    with on_dynamodb_and_s3(tmp_path, *stores) as both:
        see_that_nothing_is_wrong(both, tmp_path / "aws.jsonl")


@pytest.mark.parametrize("on", ["servers", "embedded"])
def test_transactions_through_functions_that_are_killed_have_no_anomaly(
    tmp_path: Path, on: str, request: pytest.FixtureRequest
) -> None:
    is_embedded = on == "embedded"
    environment: Environment = EMBEDDED if is_embedded else request.getfixturevalue("environment")
    with a_chain(tmp_path, environment) as chain:
        played = play_through(chain, tmp_path / "functions.jsonl", seeded(), SECONDS_OF_FUNCTIONS)
    counts = counts_of(played)
    print(figures(counts))
    assert not played.verdict.anomalies, played.verdict.said
    assert played.held_back_s < HELD_BACK_S + SLOW_MACHINE_S
    assert counts["committed"], "nothing was committed"
    assert counts["killed"], "not all functions were killed"
    assert counts["started again"], "no function was started again"
