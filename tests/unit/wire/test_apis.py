"""The table of APIs, and what importing it costs."""

import subprocess
import sys

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import ErrorCode


def test_every_key_has_an_api_and_every_api_its_key():
    assert set(APIS) == set(ApiKey)
    assert all(api.key == key for key, api in APIS.items())


def test_every_api_carries_its_own_messages():
    for api in APIS.values():
        assert api.request.name == f"{api.name}Request"
        assert api.response.name == f"{api.name}Response"


def test_error_codes_have_no_gaps():
    assert [code.value for code in ErrorCode] == list(range(-1, len(ErrorCode) - 1))
    assert ErrorCode.NONE == 0


def test_the_table_imports_no_messages_and_compiles_nothing():
    script = (
        "import sys; from samsa.wire import apis, frame;"
        "print([m for m in sys.modules if m.startswith('samsa.wire.messages.')],"
        " 'samsa.wire.decoder' in sys.modules, 'asyncio' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] False False"
