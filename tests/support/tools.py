"""What a test needs beyond Python: skipped where it is absent, a failure under CI=true.

A gate that skips is no gate, so the machine that gates must have everything.
"""

import importlib.util
import os
import shutil
from typing import NoReturn

import pytest


def require(tool: str, reason: str) -> str:
    """The path of a command, or the end of this test."""
    return shutil.which(tool) or absent(tool, reason)


def require_module(module: str, reason: str) -> None:
    if importlib.util.find_spec(module) is None:
        absent(f"the Python module {module}", reason)


def absent(what: str, reason: str) -> NoReturn:
    message = f"{what} is not installed: {reason}"
    if os.environ.get("CI") == "true":
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
