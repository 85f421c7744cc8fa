"""The console of a `samsa up`, for a test: its address, what it knows, and a page of it."""

import json
import re
import urllib.request
from typing import Any
from urllib.parse import quote

from server.process import Samsa

URL = re.compile(r"http://127\.0\.0\.1:\d+")
SECONDS = 30


class Console:
    def __init__(self, samsa: Samsa) -> None:
        self.samsa = samsa
        found = URL.search((samsa.folder / "stdout").read_text())
        assert found, samsa.said()
        self.url = found[0]

    @property
    def bootstrap(self) -> str:
        return self.samsa.broker.bootstrap

    def view(self, *path: str, query: str = "") -> str:
        """The address of a view."""
        where = "/".join(quote(part, safe="") for part in path)
        return f"{self.url}/console/#/{where}{query and '?' + query}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def create(self, name: str, partitions: int = 1, **configs: str) -> str:
        configs = {key.replace("_", "."): value for key, value in configs.items()}
        body = {"name": name, "partitions": partitions, "configs": configs}
        self.ask("POST", "/topics", body)
        return name

    def write(self, topic: str, *records: dict[str, Any]) -> list[int]:
        """The offsets at which they are."""
        told = self.ask("POST", f"/topics/{topic}/records", {"records": list(records)})
        return [each["offset"] for each in told["records"]]
