"""librdkafka through bench_clients.py, with the broker's CPU read at the end of each phase."""

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from .bench import Bench
from .brokers import Broker
from .process import Command, ToolFailed, run
from .usage import CpuMeter

PHASE_ENDED = re.compile(r"run \d+ parts \d+ (\w+)")


def turn(bench: Bench, broker: Broker, partitions: int, *options: str) -> dict[str, Any]:
    """Its figures for one run on a topic of its own; `cpu` has the broker's seconds by phase."""
    report = bench.scratch / "clients.json"
    fixed = ["--runs", "1", "--parts", str(partitions), "--json", str(report)]
    fixed += [f"-X{name}={value}" for name, value in broker.entrance.librdkafka.items()]
    clients = bench.anchors.bench_clients
    command: Command = [sys.executable, clients, broker.entrance.address, *fixed, *options]
    meter, cpu = CpuMeter(broker.pid), {}

    def on_line(line: str) -> None:
        # It prints a line the moment a phase is over, which splits the CPU time between phases.
        if found := PHASE_ENDED.match(line):
            cpu[found.group(1)] = meter.lap()

    code, said = run(command, bench.plan.patience_s, on_line=on_line)
    if code:
        raise ToolFailed(f"bench_clients.py ended with {code}: {said.strip()[-500:]}")
    row: dict[str, Any] = json.loads(report.read_text())["runs"][0]
    _check(row)
    return {**row, "cpu": cpu}


def _check(row: dict[str, Any]) -> None:
    produced, consumed = row["produce"], row["consume"]
    if produced["errors"] or produced["unflushed"]:
        raise ToolFailed(f"not all was acknowledged: {produced}")
    if consumed["got"] != consumed["want"] or consumed["gaps"] or consumed["dups"]:
        raise ToolFailed(f"not all was read back: {consumed}")


def load(bench: Bench) -> Sequence[str]:
    """Options for a turn that is about throughput only."""
    plan = bench.plan
    return ["--max-msgs", str(plan.messages), "--seconds", str(plan.seconds), "--lat-n", "0"]


def warm_up(bench: Bench, broker: Broker) -> None:
    """Before anything is measured: a JVM that has not compiled its hot paths yet is no rival."""
    messages, latencies = str(bench.plan.warm_up_messages), str(bench.plan.latencies)
    with bench.forgiving(broker, "warming up"):
        turn(bench, broker, 1, "--max-msgs", messages, "--lat-n", latencies, "--e2e")
