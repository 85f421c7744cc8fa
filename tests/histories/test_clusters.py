"""Appends and reads through two processes that are killed and stopped look like one log."""

from pathlib import Path

import pytest
from crash.seeds import seeded
from histories.client import SEQUENCE_ERRORS
from histories.cluster import on_dynamodb_and_s3, on_one_folder
from histories.judging import LEGAL, judge
from histories.rounds import Played, play

SECONDS = 15
"""Of load."""
pytestmark = pytest.mark.waits


def see_that_it_is_legal(played: Played) -> None:
    history, signals = played.history, played.signals
    print(f"{history.operations} operations, {history.unknown} unknown, {dict(signals)}")
    verdict = judge(history.path)
    assert verdict.code == LEGAL, verdict.said
    print(verdict.said)
    assert not SEQUENCE_ERRORS & set(history.counts), history.counts
    assert signals["killed"], "nobody was killed"
    assert signals["stopped"], "nobody was stopped"
    assert history.operations > 10 * SECONDS


def test_two_processes_on_one_folder_are_one_log(tmp_path: Path) -> None:
    with on_one_folder(tmp_path) as both:
        see_that_it_is_legal(play(both, tmp_path / "folder.jsonl", seeded(), SECONDS))


def test_two_processes_on_dynamodb_and_s3_are_one_log(
    tmp_path: Path, stores: tuple[str, str]
) -> None:
    with on_dynamodb_and_s3(tmp_path, *stores) as both:
        see_that_it_is_legal(play(both, tmp_path / "aws.jsonl", seeded(), SECONDS))
