"""Whoever asks for help is told something: of every command, and of everything that it takes."""

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from samsa_broker.cli.main import parser


def commands(root: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield root
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action.choices.values():
                yield from commands(each)


ALL = {each.prog: each for each in commands(parser())}


def test_every_command_is_looked_at():
    for name in ("up", "topics delete-records", "groups reset-offsets", "shim", "cost"):
        assert f"samsa {name}" in ALL


@pytest.mark.parametrize("name", ALL)
def test_a_command_says_what_it_is_for(name: str):
    described = (ALL[name].description or "").strip()
    assert len(described.split()) > 3, "a sentence at least"


@pytest.mark.parametrize("name", ALL)
def test_everything_that_a_command_takes_is_explained(name: str):
    for action in ALL[name]._actions:
        if not isinstance(action, argparse._SubParsersAction):
            assert action.help, action.option_strings or action.dest


@pytest.mark.parametrize("name", ALL)
def test_help_can_be_printed_and_its_examples_are_commands_that_are_taken(name: str):
    """But for what a shell would do with them, and for what is left out by dots."""
    text = ALL[name].format_help()
    _, _, examples = text.partition("examples:\n")
    for line in examples.splitlines():
        command = re.split(r" {2,}", line.strip())[0]
        found = re.match(r"(?:[^|]*\| )?samsa (.*)", command)
        if line[:2] == "  " and found and "…" not in command and not command.endswith("\\"):
            words = shlex.split(re.split(r" [|<] ", found[1])[0])
            assert parser().parse_args(words).run, command


def test_a_default_that_is_told_is_the_default():
    """A help text that names a number by hand is wrong one day."""
    for each in ALL.values():
        for action in each._actions:
            told = re.search(r"\((\d[\d.]*)\)$", action.help or "")
            assert not told, f"{action.option_strings}: %(default)s instead of {told}"


def test_a_command_that_asks_a_broker_does_not_load_one():
    """It would take several times as long to start as to be done."""
    load = "from samsa_broker.cli.main import parser; parser('topics')"
    script = f"import sys; {load}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())
    assert "samsa_broker.cli.topics" in loaded
    assert not {"asyncio", "samsa.broker.broker", "samsa_broker.cli.up"} & loaded
