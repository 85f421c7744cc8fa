"""Turns throttling on while there are quotas, and off when the last one is removed: without quotas
a request costs one look at an attribute.
"""

import asyncio

from samsa.access.view import SecurityView
from samsa.security.throttling import Throttling

from .listener import Server


class QuotaChanges:
    def __init__(self, server: Server, view: SecurityView) -> None:
        loop, broker = asyncio.get_running_loop(), server.broker
        self._server = server
        self._view = view
        self._throttling = Throttling(
            lambda: view.quota_table,
            lambda: int(loop.time() * 1000),
            lambda: len(broker.nodes.ids),
        )
        view.on_quotas = self.take
        self.take()

    def take(self) -> None:
        """Put the quotas of now into force. Connections that are muted by earlier ones go on."""
        if self._view.quota_table.is_empty:
            self._server.broker.throttling = None
            self._throttling.forget()
        else:
            self._server.broker.throttling = self._throttling
        self._server.muted.release()
