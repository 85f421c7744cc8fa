"""template.yaml as plain data: `!Ref X` is {"Ref": "X"}, and so on."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
    pass


def intrinsic(loader: Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


Loader.add_multi_constructor("!", intrinsic)


def read_template(path: Path = ROOT / "template.yaml") -> dict[str, Any]:
    with path.open() as file:
        template: dict[str, Any] = yaml.load(file, Loader)
    return template
