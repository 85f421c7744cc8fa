"""DynamoDB Local: Amazon's own emulator, from Maven Central. Unlike moto it keeps updates apart."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support import needs
from support.servers.processes import running

HERE = Path(__file__).parent


@contextmanager
def dynamodb_local(folder: Path) -> Iterator[str]:
    """Its endpoint."""
    # The native SQLite that even its in-memory mode uses is found beside the jars.
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{needs.dynamodb_local()}/*"]
    log = folder / "dynamodb-local.log"

    def endpoint() -> str | None:
        port = re.search(r"listening (\d+)", log.read_text())
        return f"http://127.0.0.1:{port[1]}" if port else None

    with running([*command, str(HERE / "LoopbackDynamoDb.java")], log, endpoint) as url:
        yield url
