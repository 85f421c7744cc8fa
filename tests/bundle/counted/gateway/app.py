"""The gateway function itself, with a line in a file for each event that it was given."""

import importlib.util
import json
import os
import time
from pathlib import Path
from typing import Any

from samsa.wire.frame import read_request
from samsa_websocket.envelope import Reference, Request, decode

REAL = Path(__file__).parents[4] / "functions" / "gateway" / "app.py"
NO_REQUEST = -1


def load() -> Any:
    spec = importlib.util.spec_from_file_location("real_app", REAL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


APP = load()
OBJECTS = APP.GATEWAY._parts.objects


def api_of(event: dict[str, Any]) -> int:
    if event["requestContext"]["routeKey"] != "$default":
        return NO_REQUEST
    message = decode(event["body"])
    if isinstance(message, Reference):
        return NO_REQUEST  # only a large produce is one
    return read_request(memoryview(message.frame)).api_key if isinstance(message, Request) else -1


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    began, gets = time.monotonic(), OBJECTS.calls["get"]
    answer: dict[str, Any] = APP.handler(event, context)
    line = {
        "api": api_of(event),
        "ms": (time.monotonic() - began) * 1000,
        "heard": len(event.get("body") or ""),
        "said": len(answer.get("body") or ""),
        "gets": OBJECTS.calls["get"] - gets,
    }
    with Path(os.environ["SAMSA_TEST_COUNTS"]).open("a") as file:
        file.write(json.dumps(line) + "\n")
    return answer
