"""The pages of the repository, as the tests of them look at them: links, headings, code."""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[3]
MADE = {"build", "dist", "node_modules", "samsa-data", "trucks"}
"""Folders that are not part of the repository, beside those that begin with a dot."""
FENCED = re.compile(r"^( *)```[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
COMMENT = re.compile(r"(^|\s)#\s.*")
CONTINUED = re.compile(r"\s*\\\n\s*")
THEN = re.compile(r"\s*(?:\|\|?|&&|;)\s+")
DRAWN = re.compile(r"[─-╿►▼▲◄]")
"""Lines of a picture, whose words are no commands."""


def pages() -> Iterator[Path]:
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [each for each in folders if each not in MADE and not each.startswith(".")]
        yield from (Path(folder, file) for file in files if file.endswith(".md"))


PAGES = sorted(pages())


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def links(page: Path) -> list[str]:
    """Those to files and headings of the repository."""
    prose = SPAN.sub("`code`", FENCED.sub("", page.read_text("utf-8")))
    return [target for target in LINK.findall(prose) if not re.match(r"[a-z]+:", target)]


@cache
def anchors(page: Path) -> set[str]:
    """As viewers of repositories make them of headings."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCED.sub("", page.read_text("utf-8"))):
        text = LINK.sub(lambda link: link[0][1 : link[0].index("]")], heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        again = sum(1 for each in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each))
        found.add(f"{slug}-{again}" if again else slug)
    return found


def code(page: Path, language: str = "") -> list[str]:
    """The blocks of this language; of none, those of a shell."""
    found = CODE.findall(page.read_text("utf-8"))
    return [dedent(block) for _, said, block in found if said == language]


def shell_lines(block: str) -> list[str]:
    """Its commands, each on one line and without its comment."""
    lines = (COMMENT.sub("", line).strip() for line in CONTINUED.sub(" ", block).splitlines())
    return [line for line in lines if line]


def commands(page: Path, program: str) -> list[str]:
    """Where code calls the program: all behind its name, without comments."""
    text = page.read_text("utf-8")
    blocks = [CONTINUED.sub(" ", block) for _, block in FENCED.findall(text)]
    spans = SPAN.findall(FENCED.sub("", text))
    called = re.compile(rf" *\(?(?:[A-Z_]+=\S+ +)*(?:\.venv/bin/)?{program} (\S.*)")
    return [
        found[1].strip()
        for code in (*blocks, *spans)
        for line in code.splitlines()
        if not DRAWN.search(line)
        for part in THEN.split(COMMENT.sub("", line))
        if (found := called.match(part))
    ]
