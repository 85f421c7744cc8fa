"""Structured logs: one line per event, never a record's contents."""

import json
import logging
import sys
import time
from typing import Any

CHATTY = ("boto3", "botocore", "urllib3")
"""Libraries that log many lines where we log one: the ledger was not available."""

SELDOM_S = 60.0


def event(logger: logging.Logger, level: int, name: str, **fields: Any) -> None:
    if logger.isEnabledFor(level):
        logger.log(level, name, extra={"fields": fields})


class Repeated:
    """An event that clients can cause very often: the first is logged at once, then at most one
    line a minute, with a count."""

    def __init__(self, logger: logging.Logger, level: int, name: str) -> None:
        self._logger, self._level, self._name = logger, level, name
        self._times = 0
        self._next = 0.0

    def happened(self, **fields: Any) -> None:
        self._times += 1
        now = time.monotonic()
        if now >= self._next:
            told = {} if self._times == 1 else {"times": self._times}
            event(self._logger, self._level, self._name, **fields, **told)
            self._times, self._next = 0, now + SELDOM_S


class TextFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.000Z INFO  listening host=127.0.0.1 port=9092`"""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        rest = "".join(f" {name}={_quoted(value)}" for name, value in fields.items())
        line = f"{_when(record)} {record.levelname:<7} {record.getMessage()}{rest}"
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _when(record),
            "level": record.levelname,
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _when(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


def _quoted(value: Any) -> str:
    text = str(value)
    is_plain = text and text.isprintable() and not set(text) & set(' "=')
    return text if is_plain else json.dumps(text, ensure_ascii=not text.isprintable())


def set_up(level: str, style: str) -> None:
    formatter: logging.Formatter = JsonFormatter() if style == "json" else TextFormatter()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in CHATTY:
        logging.getLogger(library).setLevel(logging.ERROR)
