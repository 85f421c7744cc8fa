"""The bill of what functions have really used, as a local gateway has counted it.

Of calls and times only: what is stored costs by the month, and logs and alarms by the deployment.
"""

from typing import NamedTuple

from .bill import Bill
from .calls import api_gateway_lines, dynamodb_lines, lambda_lines, s3_lines
from .prices import Prices

NAME = "What this would have cost on AWS"
MINUTE_S = 60.0


class Used(NamedTuple):
    invocations: float
    gb_s: float
    messages: float
    """Of API Gateway's WebSocket, in pieces of 32 KB."""
    connection_s: float
    writes: float
    reads: float
    """Capacity units of DynamoDB."""
    puts: float
    """Of S3, also lists."""
    gets: float


def bill_of(used: Used, prices: Prices) -> Bill:
    lines = [
        *lambda_lines(used.invocations, used.gb_s, prices),
        *api_gateway_lines(used.messages, used.connection_s / MINUTE_S, prices),
        *dynamodb_lines(used.writes, used.reads, prices),
        *s3_lines(used.puts, used.gets, prices),
    ]
    return Bill(NAME, lines, [])
