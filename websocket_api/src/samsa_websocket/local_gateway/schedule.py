"""Calls the janitor every few minutes, as the schedule of template.yaml does on AWS.

One round at a time: while one takes longer than the interval, no other begins.
"""

import asyncio
import logging

from samsa.runtime.logs import event as log_event

from .environments import FunctionFailed
from .events import Event
from .integration import Integration

log = logging.getLogger("samsa.local_api")
JANITOR = "janitor"
JANITOR_S = 270.0
"""Its time-out in template.yaml."""
EVERY_S = 300.0
EVENT: Event = {
    "version": "0",
    "source": "aws.events",
    "detail-type": "Scheduled Event",
    "resources": ["arn:aws:events:us-east-1:123456789012:rule/samsa-janitor"],
    "detail": {},
}


class Schedule:
    def __init__(self, janitor: Integration, every_s: float) -> None:
        self._janitor = janitor
        self._every_s = every_s

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(self._every_s)
            try:
                await self._janitor.invoke(EVENT)
            except FunctionFailed as failed:
                # A round that fails is made up for by the next.
                log_event(log, logging.WARNING, "function failed", function=JANITOR, why=failed)
