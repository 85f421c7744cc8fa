"""DynamoDB Local: Amazon's own emulator, from Maven Central. Unlike moto it keeps updates apart."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.builds import cache, locked
from support.servers.processes import running
from support.tools import absent, require

HERE = Path(__file__).parent


@contextmanager
def dynamodb_local(folder: Path) -> Iterator[str]:
    """Its endpoint."""
    for tool in ("java", "javac", "mvn"):
        require(tool, "DynamoDB Local runs on a JDK and comes from Maven Central")
    # The native SQLite that even its in-memory mode uses is found beside the jars.
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars()}/*"]
    log = folder / "dynamodb-local.log"

    def endpoint() -> str | None:
        port = re.search(r"listening (\d+)", log.read_text())
        return f"http://127.0.0.1:{port[1]}" if port else None

    with running([*command, str(HERE / "LoopbackDynamoDb.java")], log, endpoint) as url:
        yield url


def jars() -> Path:
    target = cache() / "dynamodb-local-2.6.1"
    with locked(cache() / "dynamodb-local.lock"):
        if not target.exists():
            draft = cache() / "dynamodb-local.partial"
            download(draft)
            draft.rename(target)
    return target


def download(folder: Path) -> None:
    pom = HERE / "dynamodb-local.pom.xml"
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
    done = subprocess.run(
        ["mvn", "-B", "-q", "-f", str(pom), *goal], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        absent("DynamoDB Local", f"Maven could not get it: {done.stdout[-500:]}")
