"""The bill of what functions have really used, as a local gateway has counted it.

Of calls and times only: what is stored costs by the month, and logs and alarms by the deployment.
"""

from typing import NamedTuple

from .bill import Bill, Line, counted
from .prices import Prices

NAME = "What this would have cost on AWS"
MILLION, THOUSAND, MINUTE_S = 1e6, 1e3, 60.0


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
    def line(what: str, count: float, unit: str, section: str, name: str, per: float = 1) -> Line:
        return Line(what, counted(count, unit), prices.cost(section, name, count / per))

    minutes, api = used.connection_s / MINUTE_S, "api_gateway"
    lines = [
        line(
            "Lambda requests", used.invocations, "requests",
            "lambda", "per_million_requests", MILLION,
        ),
        line("Lambda time", used.gb_s, "GB-s", "lambda", "per_gb_second"),
        line(
            "API Gateway messages", used.messages, "of 32 KB",
            api, "per_million_messages", MILLION,
        ),
        line(
            "API Gateway connections", minutes, "minutes",
            api, "per_million_connection_minutes", MILLION,
        ),
        line("DynamoDB writes", used.writes, "units", "dynamodb", "per_million_writes", MILLION),
        line("DynamoDB reads", used.reads, "units", "dynamodb", "per_million_reads", MILLION),
        line("S3 puts and lists", used.puts, "calls", "s3", "per_thousand_puts", THOUSAND),
        line("S3 gets", used.gets, "calls", "s3", "per_thousand_gets", THOUSAND),
    ]  # fmt: skip
    return Bill(NAME, lines, [])
