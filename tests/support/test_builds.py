from concurrent.futures import ThreadPoolExecutor

import pytest
from support.builds import built

COUNT = ["sh", "-c", "echo built >> count"]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "main").write_text("one")
    return folder


def test_the_same_sources_are_built_once_however_many_ask(sources):
    with ThreadPoolExecutor(4) as pool:
        targets = set(pool.map(lambda _: built(sources, [COUNT]), range(4)))
    (target,) = targets
    assert (target / "count").read_text() == "built\n"


def test_changed_sources_are_built_again(sources):
    before = built(sources, [COUNT])
    (sources / "main").write_text("two")
    assert built(sources, [COUNT]) != before


def test_a_build_that_fails_says_why_and_is_tried_again(sources):
    marker = sources.parent / "marker"
    flaky = ["sh", "-c", f"test -e {marker} || {{ echo no marker; touch {marker}; exit 3; }}"]
    with pytest.raises(RuntimeError, match="no marker"):
        built(sources, [flaky])
    assert built(sources, [flaky]).is_dir()
