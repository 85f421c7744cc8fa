"""What the pages of the repository say is there: files, headings, targets of make, commands."""

import argparse
import re
from importlib import import_module
from pathlib import Path

import pytest
from unit.docs.pages import PAGES, ROOT, anchors, commands, links, name_of

from samsa_broker.cli.main import parser

README = ROOT / "README.md"
MOST_LINES = 150
MOST_COLUMNS = 100
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
SAMSA = parser()
VALUE = re.compile(r"""'[^']*'|"[^"]*\"""")
FLAG = re.compile(r"(?<!\S)(--[a-z][a-z-]*)")

every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@every_page
def test_every_link_leads_to_a_file_and_a_heading_that_exist(page: Path):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), f"{link} leads out of the repository"
        if anchor:
            assert anchor in anchors(target), link


@every_page
def test_every_target_of_make_that_is_named_exists(page: Path):
    for command in commands(page, "make"):
        words = re.sub(r"""[A-Z_]+=("[^"]*"|\S*)""", "", command).split()
        if words and not words[0].startswith("-"):
            assert re.sub(r"\W+$", "", words[0]) in TARGETS, f"make {command}"


@every_page
def test_every_command_of_samsa_that_is_named_exists_and_takes_its_flags(page: Path):
    for command in commands(page, "samsa"):
        words = VALUE.sub("value", command.partition(" <")[0]).split()
        if words[0].isupper():
            continue  # a placeholder, as in `samsa COMMAND --help`
        called = called_parser(words)
        for flag in FLAG.findall(" ".join(words)):
            assert flag in called._option_string_actions, f"samsa {command}"


def called_parser(words: list[str]) -> argparse.ArgumentParser:
    found = SAMSA
    for word in words:
        actions = [each for each in found._actions if isinstance(each, argparse._SubParsersAction)]
        if not actions or word.startswith("-"):
            break
        assert word in actions[0].choices, f"samsa {' '.join(words)}"
        found = actions[0].choices[word]
    if found.prog.startswith("samsa pipeline "):
        job = found.prog.rpartition(" ")[2].replace("-", "_")
        return import_module(f"pyspark_samsa.jobs.{job}").parser()
    return found


def test_the_readme_is_short():
    lines = README.read_text("utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert [line for line in lines if len(line) > MOST_COLUMNS and line[0] != "|"] == []


def test_the_prices_in_the_readme_are_those_of_the_page():
    """That page is what `samsa cost` prints: tests/unit/cost/test_command.py."""
    prices = re.findall(r"\$\d[\d,.]*\d", README.read_text("utf-8"))
    page = (ROOT / "docs" / "cost.md").read_text("utf-8")
    assert len(prices) > 5
    assert [price for price in prices if not re.search(rf"{re.escape(price)}(?!\d)", page)] == []


def test_pages_and_commands_are_found():
    """So that none of the tests above holds because it looks at nothing."""
    assert {"README.md", "docs/cli.md", "model/README.md"} <= {name_of(page) for page in PAGES}
    assert "docs/serverless.md" in links(README)
    assert {"run", "test", "docs"} <= TARGETS
    assert "test" in commands(README, "make")
    assert any(command.startswith("shim --url ws") for command in commands(README, "samsa"))
