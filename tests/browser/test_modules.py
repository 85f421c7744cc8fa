"""The parts of the page that only compute, in the browser that runs them."""

from typing import Any

import pytest
from browser.console import Console
from playwright.async_api import Page

pytestmark = pytest.mark.asyncio(loop_scope="session")
CALL = """async ([module, name, args]) => (await import(`/console/${module}.js`))[name](...args)"""
DEEP = "[" * 30_000 + "]" * 30_000
CASES: list[tuple[str, list[Any], Any]] = [
    ("format.short", [999.4], "999"),
    ("format.short", [999.6], "1 k"),
    ("format.short", [12_345], "12.3 k"),
    ("format.short", [None], "–"),
    ("format.short", [-1500], "-1.5 k"),
    ("format.short", [0.00001], "< 0.001"),
    ("format.bytes", [1_000], "1 KB"),
    ("format.bytes", [123_456_789], "123 MB"),
    ("format.quantity", [1_500_000, "bytes/s"], "1.5 MB/s"),
    ("format.quantity", [0.25, "ms"], "0.25 ms"),
    ("format.quantity", [1_500, "ms"], "1.5 s"),
    ("format.duration", [90_061], "1 d 1 h"),
    ("format.duration", [59.9], "59 s"),
    ("format.duration", [0.5], "0.5 s"),
    ("format.dollars", [1234.5], "$1,234.50"),
    ("format.dollars", [0.00117], "$0.00117"),
    ("format.plural", [1, "topic"], "1 topic"),
    ("format.iso", [2**53], f"{2**53} ms since 1970"),
    ("format.local", [2**63], "–"),
    ("scale.roundTicks", [0], [0, 1]),
    ("scale.roundTicks", [7], [0, 2, 4, 6, 8]),
    ("scale.roundTicks", [0.3], [0, 0.1, 0.2, 0.3]),
    ("scale.runs", [[[1, None], [2, 5], [3, 6], [4, None], [5, 7]]], [[[2, 5], [3, 6]], [[5, 7]]]),
    ("numbers.numbersOf", ["7, 0-2,1"], [0, 1, 2, 7]),
    ("numbers.numbersOf", ["2-0"], None),
    ("numbers.numbersOf", ["0-999999999"], None),
    ("json_text.indented", ['{"a":[],"b":[1.0,"x,]"]}'],
     '{\n  "a": [],\n  "b": [\n    1.0,\n    "x,]"\n  ]\n}'),
    ("json_text.indented", ["{no"], None),
    ("json_text.indented", ["12"], None),
    ("json_text.indented", [DEEP], None),
    ("place.link", [["groups", "a/b?c#d é"], {"search": "x&y", "empty": ""}],
     "#/groups/a%2Fb%3Fc%23d%20%C3%A9?search=x%26y"),
]  # fmt: skip


async def test_modules_compute_what_they_should(console: Console, page: Page):
    await page.goto(console.url)
    for function, arguments, expected in CASES:
        found = await page.evaluate(CALL, [*function.split("."), arguments])
        if function == "scale.roundTicks":
            assert found == pytest.approx(expected), function
        else:
            assert found == expected, (function, arguments)


async def test_bytes_that_were_cut_in_a_character_are_still_text(console: Console, page: Page):
    await page.goto(console.url)
    cut = """async isCut => {
      const { textOf } = await import('/console/content.js')
      return textOf(new TextEncoder().encode('ab€').subarray(0, 4), isCut)
    }"""
    assert await page.evaluate(cut, True) == "ab"
    assert await page.evaluate(cut, False) is None


UPDATES = """async () => {
  const { table } = await import('/console/table.js')
  const made = table('Letters', [{ head: 'letter', text: row => row.name, link: () => '#' }])
  document.getElementById('main').append(made.element)
  const show = names => made.update([...names].map(name => ({ name })))
  const cell = name => [...made.body.querySelectorAll('a')].find(a => a.textContent === name)
  show('abcd')
  cell('c').focus()
  getSelection().selectAllChildren(cell('b'))
  const same = cell('c')
  const found = []
  for (const names of ['abcd', 'dbcea', 'bc']) {
    show(names)
    found.push([made.body.textContent, document.activeElement === same, String(getSelection())])
  }
  return found
}"""


async def test_a_table_keeps_focus_and_selection_while_its_rows_change(
    console: Console, page: Page
):
    await page.goto(console.url)
    assert await page.evaluate(UPDATES) == [
        ["abcd", True, "b"],
        ["dbcea", True, "b"],
        ["bc", True, "b"],
    ]
