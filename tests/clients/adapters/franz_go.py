"""franz-go."""

from pathlib import Path

from clients.adapters.driver import Driver
from support.needs import go_driver


def franz_go(bootstrap: str, log: Path) -> Driver:
    return Driver([str(go_driver()), bootstrap], log.open("w"))
