"""A plugin for kafka-python's fixtures: where they would start a broker with SASL or TLS, they get
one that runs already. SECURED names it: a JSON object with the port of each transport, and with the
folder in which `ca-cert` is.
"""

import json
import os
from typing import Any

from kafka import KafkaAdminClient

from test.integration.fixtures import KafkaFixture
from test.service import ExternalService

SECURED = json.loads(os.environ["SECURED"])


class Running(ExternalService):
    def dump_logs(self) -> None:
        """They are with those of the broker."""


def open_(self: Any) -> None:
    self.host, self.port = "localhost", SECURED["ports"][self.transport]
    self.ssl_dir = SECURED["folder"]
    self.child = Running(self.host, self.port)
    self.external = self.running = True


def get_topic_names(self: Any) -> list[str]:
    """Their own asks `kafka-topics.sh`."""
    with KafkaAdminClient(**self._enrich_client_params({})) as admin:
        return list(admin.list_topics())


KafkaFixture.open = open_
KafkaFixture.get_topic_names = get_topic_names
