"""One browser and one broker for all tests of this folder; each test has a page of its own.

The browser belongs to the event loop of the session, so that tests with a loop of their own run in
the same process.
"""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio
from browser.console import Console
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect
from server.process import a_samsa
from support import needs

PATIENCE_MS = 10_000
SIZE = {"width": 1280, "height": 900}
ZONE = "Asia/Kolkata"
"""Five and a half hours ahead of UTC: wherever a test runs, local time is another."""
names = itertools.count()
OpenPage = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=str(needs.chromium()))
        yield chromium
        await chromium.close()


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with a_samsa(tmp_path_factory.mktemp("console"), "--http", "127.0.0.1:0") as samsa:
        yield Console(samsa)


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Opens pages that must not complain: no script fails, and nothing is refused by the policy."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    async def open_one(**options: object) -> Page:
        context = await browser.new_context(**{"viewport": SIZE, "timezone_id": ZONE, **options})
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if is_bad(said) else None)
        return page

    yield open_one
    for context in contexts:
        await context.close()
    assert not complaints


def is_bad(said: object) -> bool:
    """A browser notes refused and lost requests by itself; the page tells those to its user."""
    return said.type == "error" and "Failed to load resource" not in said.text


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage) -> Page:
    return await open_page()


@pytest.fixture
def new_name() -> str:
    return f"orders-{next(names)}"


@pytest.fixture
def topic(console: Console, new_name: str) -> str:
    """A topic with three partitions and no records."""
    return console.create(new_name, 3)
