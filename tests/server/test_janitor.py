"""The janitor beside a broker: by itself, and by hand with `samsa janitor run`."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from server.process import Samsa, a_samsa
from server.talk import create, end_of, everything, values, write
from support.broker import SAMSA
from support.waiting import eventually

RUNS = 6
QUICK = ("--upkeep-interval", "0.2", "--settle-time", "0.1")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(SAMSA), "janitor", "run", *arguments], capture_output=True, text=True, timeout=60
    )


def with_packs(folder: Path, samsa: Samsa) -> list[bytes]:
    """Each start of a broker leaves one pack."""
    sent = []
    for number in range(RUNS):
        if number:
            samsa.stop()
            samsa.again()
        with samsa.peer() as peer:
            if not number:
                create(peer, "letters")
            sent.append(b"dear sir %d" % number)
            write(peer, "letters", sent[-1])
    return sent


def figure(told: str, name: str) -> float:
    (line,) = [line for line in told.splitlines() if line.startswith(f"{name}\t")]
    return float(line.split("\t")[1].replace(",", ""))


def test_by_hand_beside_a_running_broker_packs_become_one_segment(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--upkeep-interval", "3600") as samsa:
        sent = with_packs(tmp_path, samsa)
        assert len(samsa.objects()) == RUNS
        data = ("--data", str(samsa.data), "--settle-time", "0.001")
        ended = run("--topic", "letters", *data)
        assert ended.returncode == 0, ended.stderr
        assert "letters: 1 partition(s)" in ended.stderr
        assert figure(ended.stdout, "merged extents") == RUNS - 1
        assert figure(ended.stdout, "objects") == 1
        assert len(samsa.objects()) == RUNS + 1
        with samsa.peer() as peer:
            assert values(everything(peer, "letters")) == sent
            assert write(peer, "letters", b"more") == RUNS
            assert values(everything(peer, "letters")) == [*sent, b"more"]
        again = run(*data)
        assert (again.returncode, figure(again.stdout, "merged extents")) == (0, 0)


def test_by_hand_a_topic_that_fails_is_one_line_and_the_rest_is_done(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--upkeep-interval", "3600") as samsa:
        with_packs(tmp_path, samsa)
        with samsa.peer() as peer:
            create(peer, "bad", cleanup_policy="compact", segment_ms="12345")
        samsa.stop()
        with closing(sqlite3.connect(samsa.data / "ledger.db")) as ledger, ledger:
            ledger.execute("UPDATE topics SET configs = replace(configs, '12345', 'soon')")
        ended = run("--data", str(samsa.data), "--settle-time", "0.001")
        assert ended.returncode == 1
        (line,) = [line for line in ended.stderr.splitlines() if "failed" in line]
        assert "ERROR   upkeep failed step=compaction name=bad partition=0 why=" in line
        assert (figure(ended.stdout, "merged extents"), figure(ended.stdout, "failures")) == (5, 1)
        # And in a broker that looks all the time: it is counted, and not said each time.
        samsa.again("--upkeep-interval", "0.05", "--metrics-port", "0", "--log-level", "debug")
        counted = 'samsa_upkeep_failures_total{step="compaction"}'
        assert eventually(lambda: samsa.metrics().get(counted) == 1)
        rounds = sum("logs tended" in line for line in samsa.logged())
        assert eventually(
            lambda: sum("logs tended" in line for line in samsa.logged()) > rounds + 3
        )
        assert sum("upkeep failed step" in line for line in samsa.logged()) == 1
        assert samsa.metrics()[counted] == 1


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--topic", "nowhere"), "there is no topic 'nowhere'"),
        (("--data", "nothing-here"), "there is no ledger in"),
        (("--ledger", "mysql://x"), "is no ledger"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    tmp_path: Path, samsa: Samsa, arguments: tuple[str, ...], why: str
) -> None:
    ended = run("--data", str(samsa.data), *arguments)
    assert ended.returncode == 1
    assert ended.stderr.startswith("samsa: ")
    assert why in ended.stderr
    assert len(ended.stderr.splitlines()) <= 2


def test_a_broker_merges_by_itself_and_says_so(tmp_path: Path) -> None:
    with a_samsa(tmp_path, "--metrics-port", "0", *QUICK) as samsa:
        sent = with_packs(tmp_path, samsa)
        assert eventually(lambda: any("/log/" in f"/{key}" for key in samsa.objects()))
        with samsa.peer() as peer:
            assert end_of(peer, "letters") == RUNS
            assert values(everything(peer, "letters")) == sent
        # A segment has its name a moment before it is swapped in and counted.
        assert eventually(lambda: samsa.metrics()["samsa_log_objects"] >= 1)
        metrics = samsa.metrics()
        assert metrics["samsa_log_bytes"] > 0
        assert metrics["samsa_log_head_bytes"] == 0, "SQLite has no heads that grow"
        assert eventually(lambda: any("logs tended" in line for line in samsa.logged()))
