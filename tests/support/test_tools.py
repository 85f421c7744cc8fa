import pytest
from support.tools import require, require_module


def test_a_tool_that_is_there_is_given_by_its_path():
    assert require("sh", "the test asks for it").endswith("/sh")


@pytest.mark.parametrize("ask", [require, require_module])
def test_what_is_absent_is_skipped_on_a_laptop(ask, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no-such-thing is not installed: for this"):
        ask("no-such-thing", "for this")


@pytest.mark.parametrize("ask", [require, require_module])
def test_what_is_absent_fails_under_ci(ask, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no-such-thing is not installed: for this"):
        ask("no-such-thing", "for this")
