"""What counted calls cost: lines that the bill of a load and the bill of real use share."""

from .bill import Line, counted
from .prices import Prices

MILLION, THOUSAND = 1e6, 1e3


def lambda_lines(requests: float, gb_s: float, prices: Prices) -> list[Line]:
    return [
        _line("Lambda requests", requests, "requests", "lambda", "per_million_requests", prices),
        _line("Lambda time", gb_s, "GB-s", "lambda", "per_gb_second", prices),
    ]


def api_gateway_lines(messages: float, minutes: float, prices: Prices) -> list[Line]:
    """Messages of WebSockets, in pieces of 32 KB; minutes of connections."""
    api, each = "api_gateway", "per_million_connection_minutes"
    return [
        _line("API Gateway messages", messages, "of 32 KB", api, "per_million_messages", prices),
        _line("API Gateway connections", minutes, "minutes", api, each, prices),
    ]


def dynamodb_lines(writes: float, reads: float, prices: Prices) -> list[Line]:
    """Capacity units."""
    return [
        _line("DynamoDB writes", writes, "units", "dynamodb", "per_million_writes", prices),
        _line("DynamoDB reads", reads, "units", "dynamodb", "per_million_reads", prices),
    ]


def s3_lines(puts: float, gets: float, prices: Prices) -> list[Line]:
    """Lists cost as puts do."""
    return [
        _line("S3 puts and lists", puts, "calls", "s3", "per_thousand_puts", prices),
        _line("S3 gets", gets, "calls", "s3", "per_thousand_gets", prices),
    ]


def _line(what: str, count: float, unit: str, section: str, name: str, prices: Prices) -> Line:
    per = MILLION if "_million_" in name else THOUSAND if "_thousand_" in name else 1
    return Line(what, counted(count, unit), prices.cost(section, name, count / per))
