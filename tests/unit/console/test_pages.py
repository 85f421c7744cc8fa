"""The page's files: what a browser is told about them."""

from pathlib import Path

import pytest
from unit.console.given import ConsoleSite
from unit.http_api.given import Api

from samsa_broker.console import pages


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Files of our own, instead of the page's."""
    made = tmp_path / "page"
    made.mkdir()
    (made / "index.html").write_text("<!doctype html><title>Console</title>")
    (made / "main.js").write_text("export {}\n")
    (made / "notes.txt").write_text("not for the web")
    (tmp_path / "secret.js").write_text("outside")
    monkeypatch.setattr(pages, "FOLDER", made)
    pages.files.cache_clear()
    yield
    pages.files.cache_clear()


async def test_the_root_leads_a_browser_to_the_console(api: Api):
    for path in ("/", "/console"):
        answer = await api.client.get(path, headers={"accept": "text/html,*/*"})
        assert (answer.status_code, answer.headers["location"]) == (307, "/console/")


async def test_files_are_served_with_what_keeps_the_page_safe(api: Api):
    index = await api.client.get("/console/")
    assert "<title>Console</title>" in index.text
    script = await api.client.get("/console/main.js")
    assert script.headers["content-type"].startswith("text/javascript")
    for answer in (index, script):
        assert answer.headers["content-security-policy"] == (
            "default-src 'self'; frame-ancestors 'none'"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-cache"


async def test_a_file_that_has_not_changed_is_not_sent_again(api: Api):
    first = await api.client.get("/console/main.js")
    etag = first.headers["etag"]
    again = await api.client.get("/console/main.js", headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    other = await api.client.get("/console/main.js", headers={"If-None-Match": '"other"'})
    assert other.status_code == 200


@pytest.mark.parametrize(
    "name", ["notes.txt", "nothing.js", "..%2fsecret.js", "%2e%2e/secret.js", "page/main.js", ".js"]
)
async def test_nothing_else_is_served(api: Api, site: ConsoleSite, name: str):
    assert (await api.client.get(f"/console/{name}")).status_code == 404


async def test_the_routes_of_the_console_do_not_hide_those_of_the_api(api: Api):
    assert (await api.client.get("/docs")).status_code == 200
    refused = await api.client.post("/console/api/overview", json={})
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET")
