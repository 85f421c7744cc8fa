"""What happens when records that should be read are gone: `failOnDataLoss` decides."""

import logging

from .errors import DataLoss

log = logging.getLogger("samsa.spark")


class Losses:
    def __init__(self, fail: bool) -> None:
        self._fail = fail

    def report(self, what: str) -> None:
        """Raises DataLoss, or says so in the log and lets the reading go on."""
        if self._fail:
            raise DataLoss(f"{what}. With failOnDataLoss=false, what there is would be read")
        log.warning("%s", what)
