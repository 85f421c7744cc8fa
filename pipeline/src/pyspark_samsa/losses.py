"""Reports records that should be read and are gone: `failOnDataLoss` decides what happens."""

import logging

from .errors import DataLoss

log = logging.getLogger("samsa.spark")


class Losses:
    def __init__(self, fail: bool) -> None:
        self._fail = fail

    def report(self, what: str) -> None:
        """Raises DataLoss; or, if losses are allowed, writes a line to the log."""
        if self._fail:
            raise DataLoss(f"{what}. With failOnDataLoss=false, what there is would be read")
        log.warning("%s", what)
