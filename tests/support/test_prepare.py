"""What tests need is there before they begin."""

import threading
from pathlib import Path

import pytest
from support import prepare
from support.needs import NEEDS, Need, need, once

TESTS = Path(__file__).parents[1]


def _fails() -> Path:
    raise RuntimeError("the registry is down")


def test_only_needs_build_anything():
    """Whatever a test builds by itself, it builds within its own time."""
    builds = "from support.builds " + "import"
    known = {"needs.py", "test_builds.py"}
    texts = {path.name: path.read_text() for path in TESTS.rglob("*.py")}
    others = [name for name, text in texts.items() if builds in text and name not in known]
    assert others == []


def test_what_uses_one_tool_is_made_one_after_the_other_and_all_else_meanwhile():
    meet = threading.Barrier(2, timeout=20)
    running: list[str] = []

    def make(name: str) -> Path:
        assert name not in running
        running.append(name)
        meet.wait()
        running.remove(name)
        return Path()

    needs = [
        Need(f"{tool} {n}", (tool,), lambda t=tool: make(t))
        for n in (1, 2)
        for tool in ("sh", "cp")
    ]
    assert prepare.prepare(needs) == []
    assert running == []


def test_what_cannot_be_made_is_told_and_the_rest_is_made():
    made: list[str] = []
    needs = [
        Need("the first", (), _fails),
        Need("the second", ("no-such-tool",), _fails),
        Need("the third", (), lambda: made.append("third") or Path()),
    ]
    assert prepare.prepare(needs) == [
        "the first: the registry is down",
        "the second: no-such-tool is not installed",
    ]
    assert made == ["third"]


@pytest.mark.parametrize(("ci", "status"), [("true", 1), ("", 0)])
def test_a_gate_does_not_begin_without_what_it_needs(ci, status, monkeypatch):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(prepare, "NEEDS", [Need("the first", (), _fails)])
    assert prepare.main() == status


def test_a_command_that_was_cut_short_is_run_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match="cut"):
        once("thing", ["sh", "-c", 'echo cut; touch "$TARGET/half"; exit 1'])
    assert (once("thing", ["sh", "-c", 'echo whole > "$TARGET/whole"']) / "whole").exists()


def test_a_need_is_skipped_where_its_tool_is_absent(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    before = list(NEEDS)
    wanted = need("the thing", "no-such-tool")(_fails)
    NEEDS[:] = before
    with pytest.raises(pytest.skip.Exception, match="the thing needs it"):
        wanted()
