"""samsa demo serverless, as somebody types it: what it prints, what it costs, and how it ends."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from support.broker import SAMSA
from support.waiting import eventually

from samsa_broker.cli.client import ClientError
from samsa_broker.cli.demo_ports import free_port

SECONDS = 90
WORKER = b"samsa_websocket.local_gateway.worker"
PORTS = ["--port", "0", "--shim-port", "0"]


def demo(folder: Path, *words: str) -> subprocess.Popen[str]:
    """In a process group of its own, as in a terminal."""
    return subprocess.Popen(
        [str(SAMSA), "demo", "serverless", *PORTS, "--data", str(folder / "data"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(running: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = running.communicate(timeout=SECONDS)
    finally:
        running.kill()
        running.wait()
    return running.returncode, out, err


def functions_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = (entry / "status").read_text()
            except OSError:
                continue
            if f"PPid:\t{pid}\n" in status:
                found.append(int(entry.name))
    return found


def hops(out: str) -> list[str]:
    return [
        line.split(" s  ", 1)[1] for line in out.splitlines() if re.match(r" *\d+\.\d{3} s", line)
    ]


def counted(out: str, what: str) -> float:
    found = re.search(rf"  {what} +([\d.]+) \S", out)
    assert found, out
    return float(found[1])


def test_the_demos_are_listed_with_a_line_each():
    done = subprocess.run(
        [str(SAMSA), "demo"], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[:3] for line in lines[:2]] == [
        ["samsa", "demo", "serverless"],
        ["samsa", "demo", "trucks"],
    ]
    assert all(len(line.split()) > 5 for line in lines[:2])
    assert max(map(len, lines)) <= 100


def test_each_hop_of_a_record_is_told_and_all_of_them_are_in_the_bill(tmp_path: Path):
    status, out, err = ended(demo(tmp_path, "--count", "3", "--rate", "10"))
    assert (status, err) == (0, "")
    assert "3 records written, 3 delivered." in out
    told = hops(out)
    first = next(n for n, line in enumerate(told) if line.startswith("producer → shim"))
    rest = told[first:]
    for hop in (
        r"shim → API Gateway  Produce +\d+ bytes",
        r"invoke gateway      Produce +\d+ ms  (warm|cold).*UpdateItem 1",
        r"API Gateway → shim  answer +\d+ bytes",
        r"shim → producer     acknowledged",
        r"shim → consumer     got \d record",
    ):
        assert any(re.match(hop, line) for line in rest), hop
    assert any(" cold (" in line for line in told)

    invoked = [line for line in told if line.startswith("invoke ")]
    assert counted(out, "Lambda requests") == len(invoked)
    # Also the last clients: their connections are closed while there is still a table.
    connects = [line for line in invoked if "$connect " in line]
    assert len([line for line in invoked if "$disconnect " in line]) == len(connects) == 3
    messages = [line for line in told if re.match("shim → API|API Gateway →|push →", line)]
    assert counted(out, "API Gateway messages") == len(messages)
    calls = re.findall(r"(PutItem|UpdateItem|DeleteItem) (\d+)", "\n".join(invoked))
    # A write is one unit and more; one in a transaction is two and more.
    assert counted(out, "DynamoDB writes") >= sum(int(count) for _, count in calls) > 0
    dollars = [float(p) for p in re.findall(r"^  .* +(\d+\.\d\d)$", out, re.MULTILINE)]
    assert sum(dollars[:-1]) == pytest.approx(dollars[-1], abs=0.05)
    assert dollars[-1] > 1


def test_ctrl_c_ends_all_of_it_and_sums_up(tmp_path: Path):
    running = demo(tmp_path, "--rate", "20")
    assert running.stdout is not None
    for line in running.stdout:
        if "shim → consumer" in line:
            break
    functions = functions_of(running.pid)
    assert functions
    os.killpg(running.pid, signal.SIGINT)
    status, out, err = ended(running)
    assert (status, err) == (0, "")
    assert "What this would have cost on AWS" in out
    assert re.search(r"\d+ records? written, \d+ delivered\.", out)
    assert eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in functions))


def test_it_goes_on_where_an_earlier_one_has_ended(tmp_path: Path):
    for first in (0, 2):
        status, out, _ = ended(demo(tmp_path, "--count", "2", "--rate", "10"))
        assert status == 0
        assert f"the last of offset {first + 1}" in out


def test_output_that_nobody_reads_ends_it_quietly(tmp_path: Path):
    running = demo(tmp_path, "--rate", "20")
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    running.stdout = None
    assert running.wait(SECONDS) == 0
    assert running.stderr is not None
    assert running.stderr.read() == ""


def test_a_port_that_was_named_and_is_taken_is_an_error(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, _, err = ended(demo(tmp_path, "--shim-port", port))
    assert status == 1
    assert err == f"samsa: port {port} on 127.0.0.1 is taken; --shim-port 0 picks a free one\n"


def test_a_usual_port_that_is_taken_is_replaced(capsys: pytest.CaptureFixture[str]):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert free_port(None, port, "--port") == 0
        assert f"port {port} is taken, so another one is used" in capsys.readouterr().err
        with pytest.raises(ClientError, match="is taken"):
            free_port(port, 1, "--port")
    assert free_port(None, port, "--port") == port


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path):
    (tmp_path / "data").write_bytes(b"")
    status, _, err = ended(demo(tmp_path))
    assert status == 1
    assert re.fullmatch(r"samsa: cannot store anything in .*/data: .*\n", err)
