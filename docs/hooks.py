"""What MkDocs needs to build pages that are written for any viewer of the repository.

- A link to a file outside of docs/ works in the repository, but the site has no such page: it shows
  the path instead. A path that does not exist stays a link, which a strict build refuses.
- Python-Markdown wants a blank line before a list, and four spaces where a list item goes on.
- A folder in the navigation stands for all of its pages.
"""

import re
from pathlib import Path
from typing import Any

FENCE = "```"
ITEM = re.compile(r"([-*]|\d+\.) ")
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)\s#]+)(?:#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    docs = Path(config["docs_dir"])
    config["nav"] = [_unfolded(entry, docs) for entry in config["nav"]]
    return config


def _unfolded(entry: dict[str, Any], docs: Path) -> dict[str, Any]:
    ((title, target),) = entry.items()
    if not isinstance(target, str) or not target.endswith("/"):
        return entry
    return {title: [f"{target}{page.name}" for page in sorted((docs / target).glob("*.md"))]}


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    return adapted(markdown, Path(page.file.abs_src_path), Path(config["docs_dir"]))


def adapted(markdown: str, page: Path, docs: Path) -> str:
    lines: list[str] = []
    in_code = in_list = False
    for line in markdown.splitlines():
        in_code ^= line.startswith(FENCE)
        if in_code or line.startswith(FENCE):
            lines.append(line)
            continue
        if ITEM.match(line):
            if not in_list and lines and lines[-1].strip():
                lines.append("")
            in_list = True
        elif not line.strip():
            in_list = False
        deeper = " " if line.startswith("   ") else ""
        lines.append(deeper + LINK.sub(lambda link: _path_or_link(link, page, docs), line))
    return "\n".join(lines) + "\n"


def _path_or_link(link: re.Match[str], page: Path, docs: Path) -> str:
    text, target = link[1], (page.parent / link[2]).resolve()
    if target.is_relative_to(docs.resolve()) or not target.exists():
        return link[0]
    path = f"`{target.relative_to(docs.resolve().parent)}`"
    return path if text.strip("`") == path.strip("`") else f"{text} ({path})"
