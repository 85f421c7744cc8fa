"""Kafka's own tools on Apache Kafka 4.3.1 and on Samsa: the same steps, the same words.

The steps are one story, told to both brokers; each is a test. Steps that only look are looked at
again where the two differ: Apache Kafka answers before it knows everything itself.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from clients.kafka_tools import KafkaTools, Said
from support.broker import samsa_up
from support.kafka import a_kafka

PATIENCE_S = 10


@dataclass(frozen=True)
class Step:
    name: str
    tool: str
    arguments: tuple[str, ...]
    looks: bool
    """Changes nothing, so it may be repeated."""


def does(name: str, tool: str, *arguments: str) -> Step:
    return Step(name, tool, arguments, looks=False)


def looks(name: str, tool: str, *arguments: str) -> Step:
    return Step(name, tool, arguments, looks=True)


def deletes(name: str, *places: tuple[str, int, int]) -> Step:
    partitions = [{"topic": t, "partition": p, "offset": o} for t, p, o in places]
    text = json.dumps({"partitions": partitions, "version": 1})
    return does(name, "delete-records", "--offset-json-file", text)


def reassigns(name: str, action: str, topic: str, node: int) -> Step:
    partitions = [{"topic": topic, "partition": 0, "replicas": [node], "log_dirs": ["any"]}]
    text = json.dumps({"partitions": partitions, "version": 1})
    return does(name, "reassignments", action, "--reassignment-json-file", text)


IDEMPOTENT = "enable.idempotence=true\nretries=5\n"


def refuses_config(name: str, value: str) -> Step:
    return does(
        f"a topic with {name}={value} is refused",
        "topics", "--create", "--topic", "refused", "--config", f"{name}={value}",
    )  # fmt: skip


STEPS = [
    does("a topic is created", "topics",
         "--create", "--topic", "one", "--partitions", "2", "--config", "retention.ms=1000000"),
    does("a topic exists already", "topics", "--create", "--topic", "one"),
    does("a topic that exists is not created if it need not be", "topics",
         "--create", "--topic", "one", "--if-not-exists"),
    does("a name with a dot warns", "topics", "--create", "--topic", "a.b"),
    does("names that differ by a dot and an underscore collide", "topics",
         "--create", "--topic", "a_b"),
    does("a bad name is refused", "topics", "--create", "--topic", "bad name"),
    does("no partitions are refused", "topics",
         "--create", "--topic", "none", "--partitions", "0"),
    does("replicas on the one broker", "topics",
         "--create", "--topic", "assigned", "--replica-assignment", "0,0,0"),
    does("replicas on a broker that is not there", "topics",
         "--create", "--topic", "refused", "--replica-assignment", "7"),
    refuses_config("nonsense", "3"),
    refuses_config("retention.ms", "abc"),
    refuses_config("retention.ms", "-5"),
    refuses_config("max.message.bytes", "3000000000"),
    refuses_config("cleanup.policy", "eat"),
    refuses_config("compression.type", "rar"),
    refuses_config("compression.gzip.level", "0"),
    refuses_config("message.timestamp.type", "Never"),
    refuses_config("min.cleanable.dirty.ratio", "7"),
    refuses_config("preallocate", "maybe"),
    refuses_config("segment.bytes", "1"),
    looks("topics are listed", "topics", "--list"),
    looks("topics are listed by a pattern", "topics", "--list", "--topic", "a.*"),
    looks("a topic is described", "topics", "--describe", "--topic", "one"),
    looks("a topic with an assignment is described", "topics",
          "--describe", "--topic", "assigned"),
    looks("a topic that is not there is not described", "topics",
          "--describe", "--topic", "nowhere"),
    looks("topics with configs of their own are described", "topics",
          "--describe", "--topics-with-overrides"),
    looks("no partition lacks replicas", "topics", "--describe", "--under-replicated-partitions"),
    does("partitions are added", "topics", "--alter", "--topic", "one", "--partitions", "4"),
    does("as many partitions as there are", "topics",
         "--alter", "--topic", "one", "--partitions", "4"),
    does("fewer partitions", "topics", "--alter", "--topic", "one", "--partitions", "2"),
    does("partitions of a topic that is not there", "topics",
         "--alter", "--topic", "nowhere", "--partitions", "2"),
    does("partitions on a broker that is not there", "topics",
         "--alter", "--topic", "one", "--partitions", "5", "--replica-assignment", "0,0,0,0,7"),
    does("too few assignments for the new partitions", "topics",
         "--alter", "--topic", "one", "--partitions", "6", "--replica-assignment", "0,0,0,0,0"),
    looks("a topic with more partitions is described", "topics", "--describe", "--topic", "one"),
    looks("a topic's own configs", "configs", "--describe", "--topic", "one"),
    looks("all configs of a topic", "configs", "--describe", "--topic", "one", "--all"),
    does("configs are set", "configs", "--alter", "--topic", "one", "--add-config",
         "retention.bytes=5000,cleanup.policy=[compact,delete],min.cleanable.dirty.ratio=0.25"),
    looks("configs that were set", "configs", "--describe", "--topic", "one"),
    looks("a topic is described with its configs", "topics", "--describe", "--topic", "one"),
    does("a config is deleted", "configs",
         "--alter", "--topic", "one", "--delete-config", "cleanup.policy,retention.bytes"),
    does("a config that was never set is deleted", "configs",
         "--alter", "--topic", "one", "--delete-config", "segment.ms"),
    looks("configs that are left", "configs", "--describe", "--topic", "one"),
    does("a bad value is refused", "configs",
         "--alter", "--topic", "one", "--add-config", "retention.bytes=abc"),
    does("an unknown config is refused", "configs",
         "--alter", "--topic", "one", "--add-config", "nonsense=1"),
    does("configs of a topic that is not there are refused", "configs",
         "--alter", "--topic", "nowhere", "--add-config", "retention.bytes=1"),
    looks("configs of a topic that is not there", "configs", "--describe", "--topic", "nowhere"),
    looks("the broker's own configs", "configs", "--describe", "--broker", "0"),
    looks("configs of a broker that is not there", "configs", "--describe", "--broker", "7"),
    looks("configs of all brokers", "configs",
          "--describe", "--entity-type", "brokers", "--entity-default"),
    does("the broker's number stays as it is", "configs",
         "--alter", "--broker", "0", "--add-config", "node.id=3"),
    does("a topic for records", "topics", "--create", "--topic", "records"),
    does("records are produced", "producer",
         "--topic", "records", "--max-messages", "10", "--acks", "-1",
         "--value-prefix", "7", "--repeating-keys", "3"),
    looks("the latest offsets", "offsets", "--topic", "records"),
    *(
        looks(f"offsets at {time}", "offsets", "--topic", "records", "--time", time)
        for time in ("earliest", "latest", "earliest-local", "latest-tiered",
                     "-1", "-2", "-4", "-5", "-6", "0", "99999999999999")
    ),
    looks("offsets of a pattern", "offsets", "--topic-partitions", "(records|one):0-2"),
    looks("offsets of a topic that is not there", "offsets", "--topic", "nowhere"),
    deletes("records are deleted from inside a batch", ("records", 0, 3)),
    looks("the earliest offset has moved", "offsets", "--topic", "records", "--time", "earliest"),
    deletes("records that were deleted", ("records", 0, 1)),
    deletes("records that are not there yet", ("records", 0, 11)),
    deletes("records at a senseless offset", ("records", 0, -2)),
    looks("the earliest offset is where it was", "offsets",
          "--topic", "records", "--time", "earliest"),
    looks("a time that only deleted records had", "offsets",
          "--topic", "records", "--time", "0"),
    # Of one record only: how a producer batches several depends on the moment.
    does("a topic for one record", "topics", "--create", "--topic", "single"),
    looks("no producer yet", "transactions",
          "describe-producers", "--topic", "single", "--partition", "0"),
    does("one record is produced", "producer",
         "--topic", "single", "--max-messages", "1", "--command-config", IDEMPOTENT),
    looks("a producer", "transactions",
          "describe-producers", "--topic", "single", "--partition", "0"),
    looks("the newest record", "offsets", "--topic", "single", "--time", "max-timestamp"),
    looks("the newest record by number", "offsets", "--topic", "single", "--time", "-3"),
    looks("sizes of partitions", "log-dirs", "--describe", "--topic-list", "single,assigned"),
    deletes("all records of several partitions", ("records", 0, -1), ("one", 3, -1)),
    looks("nothing is left", "offsets", "--topic", "records", "--time", "earliest"),
    does("records are produced after all were deleted", "producer",
         "--topic", "records", "--max-messages", "5", "--value-prefix", "8"),
    looks("offsets go on where they were", "offsets", "--topic", "records"),
    looks("no transaction hangs", "transactions",
          "find-hanging", "--topic", "records", "--broker-id", "0"),
    does("a topic is deleted", "topics", "--delete", "--topic", "records"),
    does("a topic that is not there is not deleted", "topics", "--delete", "--topic", "nowhere"),
    looks("the topic is gone", "topics", "--list"),
    does("a topic of the same name", "topics", "--create", "--topic", "records"),
    looks("it is empty", "offsets", "--topic", "records", "--time", "latest"),
    does("a topic for groups", "topics", "--create", "--topic", "grouped", "--partitions", "2"),
    does("records for groups", "producer",
         "--topic", "grouped", "--max-messages", "20", "--repeating-keys", "7",
         "--command-config", IDEMPOTENT),
    *(
        step
        for protocol in ("classic", "consumer")
        for step in (
            does(f"a {protocol} group reads", "consumer",
                 "--topic", "grouped", "--group-id", protocol, "--group-protocol", protocol,
                 "--max-messages", "20", "--reset-policy", "earliest"),
            looks(f"a {protocol} group is described", "groups",
                  "--describe", "--group", protocol),
            looks(f"the members of a {protocol} group", "groups",
                  "--describe", "--group", protocol, "--members", "--verbose"),
            looks(f"the state of a {protocol} group", "groups",
                  "--describe", "--group", protocol, "--state"),
            does(f"a {protocol} group would start again", "groups",
                 "--reset-offsets", "--group", protocol, "--topic", "grouped",
                 "--to-earliest", "--dry-run"),
            looks(f"a {protocol} group has not started again", "groups",
                  "--describe", "--group", protocol),
            does(f"a {protocol} group goes back", "groups",
                 "--reset-offsets", "--group", protocol, "--topic", "grouped:0",
                 "--shift-by", "-2", "--execute"),
            looks(f"a {protocol} group lags", "groups", "--describe", "--group", protocol),
            does(f"a {protocol} group forgets a partition", "groups",
                 "--delete-offsets", "--group", protocol, "--topic", "grouped:1"),
            looks(f"a {protocol} group has forgotten a partition", "groups",
                  "--describe", "--group", protocol, "--offsets"),
        )
    ),
    looks("the broker's own topic is listed", "topics", "--list"),
    looks("the broker's own topic is not listed", "topics", "--list", "--exclude-internal"),
    looks("the broker's own topic is described", "topics",
          "--describe", "--topic", "__consumer_offsets"),
    looks("configs of the broker's own topic", "configs",
          "--describe", "--topic", "__consumer_offsets"),
    does("the broker's own topic exists already", "topics",
         "--create", "--topic", "__consumer_offsets"),
    deletes("records of the broker's own topic", ("__consumer_offsets", 0, -1)),
    does("a leader is elected", "elections",
         "--election-type", "preferred", "--topic", "one", "--partition", "0"),
    does("a leader of a topic that is not there is elected", "elections",
         "--election-type", "unclean", "--topic", "nowhere", "--partition", "0"),
    does("all leaders are elected", "elections",
         "--election-type", "preferred", "--all-topic-partitions"),
    looks("no partition is on its way", "reassignments", "--list"),
    reassigns("a partition goes where it is", "--execute", "one", 0),
    reassigns("a partition is where it should be", "--verify", "one", 0),
    reassigns("a partition goes to a broker that is not there", "--execute", "one", 7),
    reassigns("a partition of a topic that is not there goes", "--execute", "nowhere", 0),
    looks("groups are listed", "groups", "--list"),
    looks("groups are listed with their states", "groups", "--list", "--state"),
    looks("groups are listed with their types", "groups", "--list", "--type"),
    looks("a group that is not there", "groups", "--describe", "--group", "nobody"),
    does("a group is deleted", "groups", "--delete", "--group", "classic"),
    does("a group that is not there is not deleted", "groups", "--delete", "--group", "nobody"),
    does("every group is deleted", "groups", "--delete", "--all-groups"),
    looks("no group is left", "groups", "--list"),
    looks("there is no authorizer", "acls", "--list"),
    does("no ACL is added", "acls",
         "--add", "--allow-principal", "User:alice", "--operation", "Read", "--topic", "one"),
    does("no ACL is removed", "acls", "--remove", "--force",
         "--allow-principal", "User:alice", "--operation", "Read", "--topic", "one"),
    *(
        looks(f"no quotas of {kind}", "configs", "--describe", "--entity-type", kind)
        for kind in ("users", "clients", "ips")
    ),
    looks("no quotas and no credentials of a user", "configs",
          "--describe", "--entity-type", "users", "--entity-name", "alice"),
    looks("no group has configs of its own", "configs", "--describe", "--entity-type", "groups"),
    looks("no client has metrics to send", "configs",
          "--describe", "--entity-type", "client-metrics"),
    looks("a group without configs of its own", "configs", "--describe", "--group", "nobody"),
    looks("all configs of a group", "configs", "--describe", "--group", "nobody", "--all"),
    does("an unknown config of a group is refused", "configs",
         "--alter", "--group", "nobody", "--add-config", "nonsense=1"),
    does("a group's config that was never set is deleted", "configs",
         "--alter", "--group", "nobody", "--delete-config", "consumer.session.timeout.ms"),
    looks("no transaction is listed", "transactions", "list"),
    looks("no transaction is listed by a pattern", "transactions",
          "list", "--transactional-id-pattern", "a.*"),
    # Last: Apache Kafka makes its `__transaction_state` for it.
    looks("a transaction that is not there", "transactions",
          "describe", "--transactional-id", "nothing"),
]  # fmt: skip
FEATURES = does("features are described", "features", "describe")


@dataclass(frozen=True)
class Told:
    kafka: Said
    samsa: Said


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Told]]:
    """What both brokers' tools said to each step."""
    folders = [tmp_path_factory.mktemp(name) for name in ("kafka", "samsa", "tools")]
    with a_kafka(folders[0]) as kafka, samsa_up(folders[1]) as samsa:
        tools = KafkaTools((folders[2] / "log").open("w"))
        brokers = (kafka.bootstrap, samsa.bootstrap)
        yield {step.name: tell(tools, step, brokers, folders[2]) for step in (*STEPS, FEATURES)}
        tools.close()


def tell(tools: KafkaTools, step: Step, brokers: tuple[str, str], folder: Path) -> Told:
    arguments = [given(one, before, folder) for before, one in pairwise(("", *step.arguments))]
    deadline = time.monotonic() + (PATIENCE_S if step.looks else 0)
    while True:
        told = Told(*(tools.run(step.tool, broker, *arguments) for broker in brokers))
        if told.kafka == told.samsa or time.monotonic() >= deadline:
            return told
        time.sleep(0.2)


def given(argument: str, option: str, folder: Path) -> str:
    """Where a tool wants a file, the step has what shall be in it."""
    if option not in ("--offset-json-file", "--command-config", "--reassignment-json-file"):
        return argument
    file = folder / option
    file.write_text(argument)
    return str(file)


def test_every_step_has_a_name_of_its_own() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)


@pytest.mark.parametrize("name", [step.name for step in STEPS])
def test_samsa_says_what_apache_kafka_says(name: str, story: dict[str, Told]) -> None:
    told = story[name]
    assert told.samsa == told.kafka


def test_the_features_that_samsa_has_are_those_of_apache_kafka(story: dict[str, Told]) -> None:
    told = story[FEATURES.name]
    assert set(told.samsa.out) < set(told.kafka.out)
    names = ["group.version", "metadata.version", "transaction.version"]
    assert [line.split()[1] for line in told.samsa.out] == names
    assert "4.3-IV0" in told.samsa.out[1]


def test_the_story_is_not_about_nothing(story: dict[str, Told]) -> None:
    """If the tools failed on both brokers alike, every step would pass."""
    assert story["a topic is created"].samsa == Said(0, ["Created topic one."], [])
    assert story["the latest offsets"].samsa.out == ["records:0:10"]
    assert (
        story["records are deleted from inside a batch"].samsa.out[-1].endswith("low_watermark: 3")
    )
    assert story["offsets go on where they were"].samsa.out == ["records:0:15"]
    assert story["it is empty"].samsa.out == ["records:0:0"]
    assert [line.split()[3:6] for line in story["a classic group is described"].samsa.out[-2:]] == [
        line.split()[3:6] for line in story["a consumer group is described"].samsa.out[-2:]
    ]
    listed = story["the broker's own topic is listed"].samsa.out
    others = story["the broker's own topic is not listed"].samsa.out
    assert listed == ["__consumer_offsets", *others]
    assert "Successfully started" in story["a partition goes where it is"].samsa.out[-1]
    assert len(story["no producer yet"].samsa.out) + 1 == len(story["a producer"].samsa.out)
