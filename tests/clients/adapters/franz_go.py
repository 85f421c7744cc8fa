"""franz-go."""

from pathlib import Path

from clients.adapters.driver import DRIVERS, Driver
from support.builds import built
from support.tools import require


def franz_go(bootstrap: str, log: Path) -> Driver:
    go = require("go", "it builds the driver of franz-go")
    folder = built(DRIVERS / "go", [[go, "build", "-o", "driver", "."]])
    return Driver([str(folder / "driver"), bootstrap], log.open("w"))
