"""Limits of API Gateway and Lambda. Tests may shorten them; they must not become longer.

https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html
"""

from dataclasses import dataclass

KB = 1024


@dataclass(frozen=True, slots=True)
class ApiGatewayLimits:
    message_bytes: int = 128 * KB
    """Of a message in either direction."""
    frame_bytes: int = 32 * KB
    """Of one frame that a client sends: longer messages come in fragments."""
    integration_s: float = 29.0
    """How long a message waits for the function's answer."""
    function_s: float = 30.0
    """How long a function may run: then its environment is killed."""
    init_s: float = 10.0
    idle_s: float = 10 * 60.0
    """Without a message in either direction. Ping frames do not count: they are not messages."""
    life_s: float = 2 * 60 * 60.0
    requests_per_s: float = 10_000
    request_burst: int = 5_000
    connections_per_s: float = 500
    connection_burst: int = 500
    unsent_bytes: int = 1024 * KB
    """What may wait for a client that does not read."""
    environments: int = 16
    """Processes at most. Lambda has a thousand; here further events wait for a free one."""
