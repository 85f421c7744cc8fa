"""The architecture page names files, classes and functions: all of them are in the code."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from unit.docs.pages import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
SOURCES = ("layers", "websocket_api", "broker", "pipeline", "functions")
BUILT = {"build", ".aws-sam"}
"""What `make dist` and `make bundle` leave behind has the same names."""
FILES = sorted(
    path
    for each in SOURCES
    for path in (ROOT / each).rglob("*.py")
    if BUILT.isdisjoint(path.relative_to(ROOT).parts)
)
FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")
NAME_IN_FILE = re.compile(r"`([A-Za-z_][\w.]*)` \(`((?:\w+/)*\w+\.py)`")
QUALIFIED = re.compile(r"`([A-Z]\w*\.[a-z_]\w*)`")
WALK = re.compile(r"^### 3[a-d]\. (.+?)\n(.*?)(?=^### |^## )", re.MULTILINE | re.DOTALL)
CROSSED = re.compile(r"It crosses (\d+) files")
BEFORE_THE_FIRST_STEP = re.compile(r"\A.*?(?=^1\. )", re.MULTILINE | re.DOTALL)


def files_of(path: str) -> list[Path]:
    """A path is relative to its package, and names one file."""
    if path.startswith("tests/"):
        return [each for each in (ROOT / path,) if each.exists()]
    found = [each for each in FILES if f"/{each.relative_to(ROOT)}".endswith(f"/{path}")]
    return found if "/" in path else [each for each in found if each.parents[1].name == "src"]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Classes, functions and constants; methods and fields also with their class."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            members = {name for each in node.body for name in _bound(each)}
            found |= members | {f"{node.name}.{name}" for name in members}
        found |= set(_bound(node))
    return frozenset(found)


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def walks() -> dict[str, str]:
    return dict(WALK.findall(PAGE))


def test_every_file_that_is_named_exists_once():
    named = set(FILE.findall(PAGE))
    assert len(named) > 100
    assert {path: len(files_of(path)) for path in named if len(files_of(path)) != 1} == {}


def test_every_name_is_in_the_file_behind_it():
    pairs = set(NAME_IN_FILE.findall(" ".join(PAGE.split())))
    assert len(pairs) > 100
    wrong = {(name, path) for name, path in pairs if name not in names_in(files_of(path)[0])}
    assert wrong == set()


def test_every_method_that_is_named_exists():
    everywhere = frozenset().union(*map(names_in, FILES))
    assert {name for name in QUALIFIED.findall(PAGE) if name not in everywhere} == set()


@pytest.mark.parametrize("walk", walks())
def test_a_walk_says_how_many_files_it_crosses(walk: str):
    steps = BEFORE_THE_FIRST_STEP.sub("", walks()[walk])
    said = CROSSED.search(steps)
    assert said is not None
    assert int(said[1]) == len(set(FILE.findall(steps[: said.start()])))


def test_the_picture_of_the_arrows_has_every_room_that_the_contracts_have():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = [layer for contract in contracts for layer in contract.get("layers", ())]
    picture = PAGE.partition("### The arrows")[2].split("```")[1]
    rooms = {room for layer in layers for room in re.findall(r"\w+", layer)}
    assert len(rooms) > 30
    assert rooms <= set(re.findall(r"\w+", picture))
