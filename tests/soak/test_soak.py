"""Mixed load under aggressive retention, merging and compaction: every acknowledged record is
accounted for.

Two brokers share one folder, so two janitors work at once, many times a second. CI plays it for a
short while; `make soak` for ten minutes (SAMSA_SOAK_SECONDS).
"""

import os
import time
from pathlib import Path

import pytest
from server.peer import Peer
from server.process import Samsa, a_samsa
from server.talk import create, delete, write
from soak.followers import Follower
from soak.judges import Records, judge, judge_compacted
from soak.writers import Writer

SECONDS = int(os.environ.get("SAMSA_SOAK_SECONDS", "20"))
UPKEEP_S = 60
QUICK = ("--upkeep-interval", "0.3", "--settle-time", "0.5", "--metrics-port", "0")
PARTITIONS = 2
TOPICS: dict[str, dict[str, str]] = {
    "kept": {"retention_ms": "-1"},
    "by-size": {"retention_bytes": "400000"},
    "by-time": {"retention_ms": "4000"},
    "latest": {"cleanup_policy": "compact", "min_cleanable_dirty_ratio": "0.01"},
}
KEYS = 100
"""Of the compacted topic, for each producer and partition."""


def brief_topics(peer: Peer, until: float) -> int:
    """Topics come and go beside the others."""
    made = 0
    while time.monotonic() < until:
        name = f"brief-{made}"
        create(peer, name, partitions=2)
        for number in range(10):
            write(peer, name, b"gone soon", partition=number % 2)
        delete(peer, name)
        made += 1
        time.sleep(0.5)
    return made


def comes_to_exceed(brokers: list[Samsa], name: str, least: float) -> bool:
    """On a busy machine the janitors need longer than the load lasts. They go on after it."""
    deadline = time.monotonic() + UPKEEP_S
    while total(brokers, name) <= least and time.monotonic() < deadline:
        time.sleep(0.5)
    return total(brokers, name) > least


def total(brokers: list[Samsa], name: str) -> float:
    return sum(broker.metrics()[name] for broker in brokers)


@pytest.mark.timeout(SECONDS + 400)
def test_every_acknowledged_record_is_accounted_for(tmp_path: Path) -> None:
    shared = ("--data", str(tmp_path / "one" / "data"))
    with (
        a_samsa(tmp_path / "one", *QUICK) as one,
        a_samsa(tmp_path / "two", *QUICK, *shared) as two,
    ):
        brokers = [one, two]
        bootstraps = [broker.broker.bootstrap for broker in brokers]
        with one.peer() as peer:
            for topic, configs in TOPICS.items():
                create(peer, topic, partitions=PARTITIONS, **configs)
        writers = [
            Writer(
                bootstraps[number % 2],
                topic,
                PARTITIONS,
                idempotent=number % 2 == 0,
                keys=KEYS if topic == "latest" else 0,
            )
            for topic in TOPICS
            for number in range(2)
        ]
        followers = [
            Follower(bootstraps[number % 2], topic, PARTITIONS)
            for number, topic in enumerate(TOPICS)
        ]
        for thread in (*writers, *followers):
            thread.start()
        with one.peer() as peer:
            assert brief_topics(peer, time.monotonic() + SECONDS)
        for writer in writers:
            writer.finish()
        time.sleep(2)  # the followers catch up, and the janitors have the last word
        for follower in followers:
            follower.finish()
        assert [f for thread in (*writers, *followers) for f in thread.failures] == []
        for topic, follower in zip(TOPICS, followers, strict=True):
            acknowledged: Records = {}
            for writer in writers:
                acknowledged |= {p: v for p, v in writer.acknowledged.items() if p.topic == topic}
            assert len(acknowledged) > 10 * SECONDS
            given = bootstraps[1], topic, PARTITIONS, acknowledged, follower.seen
            if topic == "latest":
                assert judge_compacted(*given) < len(acknowledged) // 2
            else:
                assert (judge(*given) == 0) == (topic == "kept")
        assert comes_to_exceed(brokers, "samsa_log_merged_extents_total", 50)
        assert comes_to_exceed(brokers, "samsa_log_copied_bytes_total", 10_000)
        assert comes_to_exceed(brokers, "samsa_log_reclaimed_bytes_total", 100_000)
        told = {name: v for name, v in one.metrics().items() if name.startswith("samsa_log_")}
        print(f"{len(acknowledged)} acknowledged of {topic}; {told}")
