"""What is advertised is served."""

import subprocess
import sys

import pytest

from samsa.broker.broker import HANDLERS
from samsa.wire.apis import APIS

FIRST_REQUEST = """
import sys
from samsa import dispatch
from samsa.broker.broker import HANDLERS
print([int(key) for key in sorted(HANDLERS)])
HANDLERS[3]
print([int(key) for key in sorted(HANDLERS)])
"""


@pytest.mark.parametrize("key", APIS)
def test_every_api_that_we_speak_has_a_handler(key: int):
    assert HANDLERS[key].__module__.startswith(f"samsa.handlers.k{key:02d}_")


def test_a_handler_is_imported_when_it_is_first_asked_for():
    done = subprocess.run(
        [sys.executable, "-c", FIRST_REQUEST], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[18]", "[3, 18]"]
