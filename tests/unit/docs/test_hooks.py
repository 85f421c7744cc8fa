"""What the site does to pages that are written for any viewer of the repository (docs/hooks.py)."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from unit.docs.pages import ROOT

DOCS = ROOT / "docs"


def loaded(file: Path) -> ModuleType:
    spec = spec_from_file_location("hooks", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hooks = loaded(DOCS / "hooks.py")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[the model](../model/README.md).", "the model (`model/README.md`)."),
        ("[model/README.md](../model/README.md)", "`model/README.md`"),
        ("[rules](../model/README.md#rules)", "rules (`model/README.md`)"),
        ("[this](../docs/cost.md)", "[this](../docs/cost.md)"),
        ("[gone](../gone.md)", "[gone](../gone.md)"),
        ("text\n- a\n- b", "text\n\n- a\n- b"),
        ("1. a\n   goes on\n2. b", "1. a\n    goes on\n2. b"),
        ("```\nx\n- [a](../model)\n   y\n```", "```\nx\n- [a](../model)\n   y\n```"),
    ],
)
def test_a_page_is_adapted_to_the_site(written: str, shown: str):
    assert hooks.adapted(written, DOCS / "page.md", DOCS) == shown + "\n"


def test_a_folder_in_the_navigation_is_all_of_its_pages_in_order():
    config = {"docs_dir": str(DOCS), "nav": [{"Home": "index.md"}, {"Why": "decisions/"}]}
    home, why = hooks.on_config(config)["nav"]
    assert home == {"Home": "index.md"}
    assert why["Why"][0] == "decisions/0001-reserve-write-confirm.md"
    assert len(why["Why"]) == len(list((DOCS / "decisions").glob("*.md")))
