"""A task that Spark itself runs twice at the same time: its rows are in the topic once."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from pipeline.given import Given, a_batch
from pipeline.sinking import commit, content, left_over, rows, staged

from pyspark_samsa.sink.staging import OBJECT_BYTES
from pyspark_samsa.sink.turns import Turn

PATIENCE_S = 280
COUNT = 150


def test_what_a_speculative_copy_and_the_task_itself_have_staged_is_published_once(
    local_log: Given, tmp_path: Path
):
    """The slow task has staged an object and then hangs; its copy, on another host, comes to the
    end. That both were there at the same time, they have noted themselves."""
    source, target = local_log.topic(2), local_log.topic(2)
    values = {number: written(number) for number in range(2)}
    for number, ours in values.items():
        local_log.fill({(source, number): [a_batch(*ours[n : n + 5]) for n in range(0, COUNT, 5)]})
    speculate([*local_log.options.values(), source, target, str(tmp_path), str(2 * OBJECT_BYTES)])

    first, copy = (
        set((tmp_path / "attempts" / name).read_text().split()) for name in ("0-0", "0-1")
    )
    assert len(first) == 1
    assert first < copy, "both have staged"
    found = Counter(value.rstrip(b"\0") for _, value in content(local_log, target))
    assert found == Counter(value.rstrip(b"\0") for ours in values.values() for value in ours)

    # A task that is killed sees its rows end, and stages the last of them, perhaps after everything
    # was cleaned up: that is for the next turn.
    late = [turn_and_writer(key) for key in left_over(local_log) if "/data/" in key]
    assert {writer for _, writer in late} <= first
    (this,) = {turn_and_writer(key)[0] for key in left_over(local_log)}
    after = this._replace(number=this.number + 1)
    commit(local_log, after, staged(local_log, after, target, [*rows("one more", 1)]))
    assert [key for key in left_over(local_log) if "/data/" in key] == []


def turn_and_writer(key: str) -> tuple[Turn, str]:
    """Of the key of something that was staged; of a plan, the turn."""
    _, query, number, *rest = key.split("/")
    return Turn(query, int(number)), rest[-1].rpartition("-")[0]


def written(number: int) -> list[bytes]:
    """More than one object of the sink takes, and less than two."""
    return [b"%d %d %s" % (number, n, bytes(OBJECT_BYTES // 100)) for n in range(COUNT)]


def speculate(arguments: list[str]) -> None:
    command = [sys.executable, str(Path(__file__).with_name("speculating_driver.py")), *arguments]
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-6_000:]
