"""The small commands: topics, produce, consume."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from server.peer import Peer
from server.process import Samsa
from server.talk import append, create, everything, values, write
from support.broker import SAMSA
from support.waiting import eventually

from samsa import __version__
from samsa.records.record import Record, build
from samsa_broker.cli.main import main

Ended = subprocess.CompletedProcess[str]


def run(*arguments: str, given: str | bytes = "") -> Ended:
    data = given.encode() if isinstance(given, str) else given
    ended = subprocess.run(
        [str(SAMSA), *arguments], input=data, capture_output=True, timeout=30, check=False
    )
    assert b"Traceback" not in ended.stderr, ended.stderr.decode()
    return Ended(ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


class Shell:
    def __init__(self, samsa: Samsa) -> None:
        self.where = ("--bootstrap", samsa.broker.bootstrap)

    def __call__(self, *arguments: str, given: str | bytes = "") -> str:
        ended = run(*arguments, *self.where, given=given)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def fails(self, *arguments: str, given: str = "") -> str:
        ended = run(*arguments, *self.where, given=given)
        assert ended.returncode == 1
        assert ended.stderr.startswith("samsa: ")
        assert len(ended.stderr.splitlines()) == 1
        return ended.stderr


@pytest.fixture
def shell(samsa: Samsa) -> Shell:
    return Shell(samsa)


def test_a_topic_is_created_listed_described_and_deleted(shell: Shell, new_name: str) -> None:
    made = shell("topics", "create", new_name, "--partitions", "3")
    assert made == f"created {new_name} with 3 partition(s)\n"
    listed = {
        line.split("\t")[0]: line.split("\t")[1] for line in shell("topics", "list").splitlines()
    }
    assert listed[new_name] == "3 partition(s)"
    shell("produce", new_name, "--partition", "1", given="one\ntwo\n")
    described = shell("topics", "describe", new_name).splitlines()
    assert described[0].startswith(new_name)
    assert described[2].split("\t") == ["  partition 1", "start 0", "end 2", "offsets 2"]
    assert shell("topics", "delete", new_name) == f"deleted {new_name}\n"
    assert new_name not in shell("topics", "list").split()


def test_a_topic_gets_the_configs_that_were_given(shell: Shell, new_name: str) -> None:
    shell("topics", "create", new_name, "--config", "max.message.bytes=1000")
    said = shell.fails("produce", new_name, given="x" * 2_000 + "\n")
    assert "max.message.bytes=1000" in said


def test_configs_are_set_shown_and_deleted(shell: Shell, topic: str) -> None:
    limit, age = "max.message.bytes=1000", "retention.ms=5000000"
    assert shell("topics", "alter", topic, "--config", limit, "--config", age) == (
        f"altered {topic}\n"
    )
    described = shell("topics", "describe", topic).splitlines()
    assert described[2:] == [f"  config {limit}", f"  config {age}"]
    assert "max.message.bytes=1000" in shell.fails("produce", topic, given="x" * 2_000 + "\n")
    shell("topics", "alter", topic, "--delete-config", "max.message.bytes")
    assert shell("topics", "describe", topic).splitlines()[2:] == [f"  config {age}"]
    shell("produce", topic, given="x" * 2_000 + "\n")


def test_a_topic_gets_more_partitions(shell: Shell, topic: str) -> None:
    assert shell("topics", "add-partitions", topic, "3") == f"{topic} has 3 partition(s)\n"
    shell("produce", topic, "--partition", "2", given="one\n")
    assert len(shell("topics", "describe", topic).splitlines()) == 4
    assert "would not be an increase" in shell.fails("topics", "add-partitions", topic, "2")


def test_records_are_deleted_up_to_an_offset_or_all_of_them(shell: Shell, new_name: str) -> None:
    shell("topics", "create", new_name, "--partitions", "2")
    for number in ("0", "1"):
        shell("produce", new_name, "--partition", number, given="one\ntwo\nthree\n")
    deleted = shell("topics", "delete-records", new_name, "--partition", "1", "--before", "2")
    assert deleted == f"{new_name} partition 1 starts at 2\n"
    described = shell("topics", "describe", new_name).splitlines()
    assert [line.split("\t")[1:] for line in described[1:3]] == [
        ["start 0", "end 3", "offsets 3"],
        ["start 2", "end 3", "offsets 1"],
    ]
    assert shell("topics", "delete-records", new_name, "--all").splitlines() == [
        f"{new_name} partition {number} starts at 3" for number in (0, 1)
    ]
    assert shell("consume", new_name, "--until-end") == ""


def test_a_change_that_cannot_be_made_is_said_in_one_line(shell: Shell, topic: str) -> None:
    assert "nothing to change" in shell.fails("topics", "alter", topic)
    assert "Not a number" in shell.fails("topics", "alter", topic, "--config", "retention.ms=x")
    assert "does not exist" in shell.fails("topics", "alter", "nowhere", "--config", "flush.ms=1")
    assert "does not exist" in shell.fails("topics", "add-partitions", "nowhere", "3")
    out_of_range = shell.fails("topics", "delete-records", topic, "--before", "9")
    assert "out of range" in out_of_range
    assert "unknown topic" in shell.fails("topics", "delete-records", "nowhere", "--all")


@pytest.mark.parametrize(
    "arguments",
    [
        ("topics", "alter", "t", "--config", "retention.ms"),
        ("topics", "add-partitions", "t", "many"),
        ("topics", "delete-records", "t"),
        ("topics", "delete-records", "t", "--all", "--before", "3"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused_by_the_parser(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_what_cannot_be_done_is_said_in_one_line(shell: Shell, topic: str) -> None:
    assert "already exists" in shell.fails("topics", "create", topic)
    assert "unknown topic" in shell.fails("topics", "describe", "nowhere")
    assert "unknown topic" in shell.fails("topics", "delete", "nowhere")
    assert "unknown topic" in shell.fails("consume", "nowhere")
    assert "name" in shell.fails("topics", "create", "no/such/name")
    assert "Unknown topic config" in shell.fails("topics", "create", "x", "--config", "a.b=1")
    assert "no partition 9" in shell.fails("produce", topic, "--partition", "9", given="x\n")


def test_lines_come_back_as_they_went_in(shell: Shell, new_name: str) -> None:
    lines = ["hello", "", "with spaces  ", "ünïcödé ☃", "tab\tin it", "x" * 100_000]
    shell("produce", new_name, given="\n".join(lines) + "\n")
    assert shell("consume", new_name, "--until-end").splitlines() == lines


def test_a_last_line_without_its_end_is_a_record_too(
    shell: Shell, peer: Peer, new_name: str
) -> None:
    shell("produce", new_name, given="one\r\ntwo")
    assert values(everything(peer, new_name)) == [b"one", b"two"]


def test_nothing_given_is_nothing_written(shell: Shell, peer: Peer, topic: str) -> None:
    shell("produce", topic, given="")
    assert everything(peer, topic) == []


def test_keys_choose_partitions_and_are_kept(shell: Shell, new_name: str) -> None:
    shell("topics", "create", new_name, "--partitions", "4")
    lines = [f"key{n % 7}:value {n}" for n in range(70)]
    shell("produce", new_name, "--key-separator", ":", given="\n".join(lines) + "\nno key\n")
    found = [
        json.loads(line)
        for line in shell("consume", new_name, "--until-end", "--json").splitlines()
    ]
    assert len(found) == 71
    homes: dict[str | None, set[int]] = {}
    for record in found:
        homes.setdefault(record["key"], set()).add(record["partition"])
    assert all(len(partitions) == 1 for partitions in homes.values())
    assert len(set.union(*homes.values())) > 1
    assert None in homes
    for key in ("key0", "key6"):
        numbers = [int(r["value"].split()[1]) for r in found if r["key"] == key]
        assert numbers == sorted(numbers)


def test_a_partition_can_be_chosen_for_writing_and_reading(shell: Shell, new_name: str) -> None:
    shell("topics", "create", new_name, "--partitions", "3")
    shell("produce", new_name, "--partition", "2", given="two\n")
    shell("produce", new_name, "--partition", "0", given="nought\n")
    read = ("consume", new_name, "--until-end", "--partition")
    assert [shell(*read, n) for n in "012"] == ["nought\n", "", "two\n"]


def test_reading_starts_and_stops_where_it_is_told(shell: Shell, new_name: str) -> None:
    shell("produce", new_name, given="".join(f"{n}\n" for n in range(10)))
    assert shell("consume", new_name, "--count", "3") == "0\n1\n2\n"
    assert shell("consume", new_name, "--from", "7", "--until-end") == "7\n8\n9\n"
    assert shell("consume", new_name, "--from", "earliest", "--count", "1") == "0\n"
    assert shell("consume", new_name, "--from", "latest", "--until-end") == ""
    assert shell("consume", new_name, "--count", "0") == ""
    assert "--from earliest" in shell.fails("consume", new_name, "--from", "99")
    assert (
        "earliest, latest or an offset"
        in run("consume", new_name, "--from", "soon", *shell.where).stderr
    )


def test_json_tells_all_of_a_record(shell: Shell, peer: Peer, new_name: str) -> None:
    create(peer, new_name)
    record = Record(0, 1_234_567, b"key", b"\xffvalue", (("name", b"header"), ("none", None)))
    append(peer, new_name, build([record, Record(1, 1_234_568, None, None)]))
    lines = shell("consume", new_name, "--json", "--until-end").splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "partition": 0,
            "offset": 0,
            "timestamp": 1_234_567,
            "key": "key",
            "value": "\\xffvalue",
            "headers": [["name", "header"], ["none", None]],
        },
        {
            "partition": 0,
            "offset": 1,
            "timestamp": 1_234_568,
            "key": None,
            "value": None,
            "headers": [],
        },
    ]


def start(*arguments: str, shell: Shell, out: Path) -> subprocess.Popen[bytes]:
    with out.open("wb") as stdout, out.with_suffix(".err").open("wb") as stderr:
        return subprocess.Popen(
            [str(SAMSA), *arguments, *shell.where],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            # A shell's background jobs ignore Ctrl-C, and so would what they start.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )


def test_a_consumer_that_waits_prints_what_comes_and_ends_with_ctrl_c(
    shell: Shell, peer: Peer, new_name: str, tmp_path: Path
) -> None:
    create(peer, new_name)
    out = tmp_path / "out"
    consumer = start("consume", new_name, shell=shell, out=out)
    for n in range(3):
        write(peer, new_name, b"news %d" % n)
        assert eventually(lambda n=n: f"news {n}\n" in out.read_text(), seconds=20)
    consumer.send_signal(signal.SIGINT)
    assert consumer.wait(20) == 130
    assert out.with_suffix(".err").read_text() == ""


def test_a_producer_that_waits_for_lines_ends_with_ctrl_c(
    shell: Shell, peer: Peer, topic: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    before = len(os.listdir("/proc/self/fd"))
    producer = start("produce", topic, shell=shell, out=out)
    assert eventually(lambda: _reads_its_input(producer.pid), seconds=20)
    producer.send_signal(signal.SIGINT)
    assert producer.wait(20) == 130
    producer.stdin.close()
    assert out.with_suffix(".err").read_text() == ""
    assert len(os.listdir("/proc/self/fd")) == before


def _reads_its_input(pid: int) -> bool:
    """It sleeps in a read of a pipe."""
    return "pipe" in Path(f"/proc/{pid}/wchan").read_text()


def bash(script: str, *arguments: str) -> tuple[list[str], str]:
    """Standard output by lines, and standard error. `$0` is samsa."""
    ended = subprocess.run(
        ["bash", "-c", script, str(SAMSA), *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return ended.stdout.splitlines(), ended.stderr


def test_a_reader_that_stops_early_is_no_error(shell: Shell, new_name: str) -> None:
    shell("produce", new_name, given="".join(f"line {n} {'x' * 500}\n" for n in range(5_000)))
    script = '"$0" consume "$1" --until-end --bootstrap "$2" | head -n 2; echo "${PIPESTATUS[0]}"'
    lines, errors = bash(script, new_name, shell.where[1])
    assert [line.split()[1] for line in lines[:2]] == ["0", "1"]
    assert (lines[2:], errors) == (["0"], "")


def test_a_list_whose_reader_has_gone_is_no_error(shell: Shell, topic: str) -> None:
    script = '"$0" topics list --bootstrap "$1" | true; echo "${PIPESTATUS[0]}"'
    assert bash(script, shell.where[1]) == (["0"], "")


def test_producing_from_a_pipe_that_head_cuts_writes_what_came(
    shell: Shell, peer: Peer, new_name: str
) -> None:
    script = 'seq 1 1000000 | head -n 3 | "$0" produce "$1" --bootstrap "$2" | head -n 1'
    _, said = bash(script, new_name, shell.where[1])
    assert "3 record(s) written" in said
    assert values(everything(peer, new_name)) == [b"1", b"2", b"3"]


NEED_A_BROKER = [
    ("topics", "list"),
    ("topics", "create", "t"),
    ("topics", "describe", "t"),
    ("topics", "delete", "t"),
    ("produce", "t"),
    ("consume", "t"),
]


@pytest.mark.parametrize("command", NEED_A_BROKER, ids=" ".join)
def test_without_a_broker_a_command_says_how_to_start_one(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{free.getsockname()[1]}"
        assert main([*command, "--bootstrap", where]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert where in said
    assert "samsa up" in said


@pytest.mark.parametrize("where", ["localhost", ":9092", "host:port", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_explained(
    where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", "list", "--bootstrap", where]) == 1
    assert where in capsys.readouterr().err


def test_a_broker_that_is_not_one_is_explained() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        where = f"127.0.0.1:{other.getsockname()[1]}"
        client = subprocess.Popen(
            [str(SAMSA), "topics", "list", "--bootstrap", where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        accepted, _ = other.accept()
        accepted.recv(100)
        accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        accepted.close()
        _, said = client.communicate(timeout=30)
    assert client.returncode == 1
    assert said.startswith(b"samsa: ")
    assert len(said.splitlines()) == 1


COMMANDS = [
    (),
    ("up",),
    ("topics",),
    ("topics", "list"),
    ("topics", "create"),
    ("topics", "describe"),
    ("topics", "delete"),
    ("produce",),
    ("consume",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(("samsa", *command)))
def test_every_command_explains_itself(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"usage: {' '.join(('samsa', *command))}")
    assert printed.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("topics",),
        ("topics", "create"),
        ("topics", "create", "t", "--config", "nonsense"),
        ("produce",),
        ("consume", "t", "--count", "some"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_ends_with_status_2_and_usage(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: samsa")


def test_the_shell_sees_the_status_of_a_wrong_command() -> None:
    assert run("nonsense").returncode == 2


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"samsa {__version__}\n"


def test_what_came_in_many_batches_is_read_to_the_end(
    shell: Shell, peer: Peer, new_name: str
) -> None:
    create(peer, new_name)
    for n in range(500):
        write(peer, new_name, b"%d" % n)
    found = shell("consume", new_name, "--until-end").splitlines()
    assert found == [str(n) for n in range(500)]
