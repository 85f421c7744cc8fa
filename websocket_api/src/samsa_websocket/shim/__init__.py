"""The shim: Kafka clients on TCP, the cluster behind API Gateway on a WebSocket.

`samsa shim` runs it as a process; `dial` runs it inside of a Python program:

    with dial("wss://….execute-api.eu-central-1.amazonaws.com/prod") as bootstrap:
        producer = KafkaProducer(bootstrap_servers=bootstrap)

One WebSocket serves one client connection (`session`, `link`), by the rules of docs/envelope.md.
"""

from samsa_websocket.shim.dialer import Dialer, dial
from samsa_websocket.shim.errors import Away, ClientRefused, ShimError

__all__ = ["Away", "ClientRefused", "Dialer", "ShimError", "dial"]
