"""franz-go."""

from collections.abc import Mapping
from pathlib import Path

from clients.adapters.driver import Driver
from support.needs import go_driver


def franz_go(bootstrap: str, log: Path, security: Mapping[str, str] | None = None) -> Driver:
    return Driver([str(go_driver()), bootstrap], log.open("w"), security)
