"""Names and configs of topics, checked as Kafka checks them."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from samsa.ports import Misconfigured, Topic
from samsa.ports.bounds import MOST_CONFIG_BYTES
from samsa.wire.errors import ErrorCode

from .config_kinds import NAME
from .topic_configs import TOPIC_CONFIGS

if TYPE_CHECKING:
    from samsa.broker.broker import Rules

HOUR_MS = 3_600_000
MAX_NAME = 249
MAX_MESSAGE = 2_000
"""Characters of an error message: it may quote what the client sent, and strings of older versions
have at most 32 KB."""
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class Refused(Exception):
    """A request, or a part of it, that is refused, with Kafka's error code."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message[:MAX_MESSAGE])
        self.code = code
        self.message = message[:MAX_MESSAGE]


def check_name(name: str) -> None:
    if not name:
        problem = "is invalid: the empty string is not allowed"
    elif name in (".", ".."):
        problem = f"is invalid: '{name}' is not allowed"
    elif len(name) > MAX_NAME:
        problem = f"is invalid: the length of '{name}' is longer than the max allowed length"
        problem += f" {MAX_NAME}"
    elif not _LEGAL_NAME.fullmatch(name):
        problem = f"is invalid: '{name}' contains one or more characters other than ASCII"
        problem += " alphanumerics, '.', '_' and '-'"
    else:
        return
    raise Refused(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name {problem}")


def check_configs(configs: Mapping[str, str]) -> None:
    size = sum(len(name) + len(value.encode()) for name, value in configs.items())
    if size > MOST_CONFIG_BYTES:
        why = f"The configs of a topic have {size} bytes, and may have {MOST_CONFIG_BYTES}"
        raise Refused(ErrorCode.INVALID_CONFIG, why)
    for name, value in configs.items():
        config = TOPIC_CONFIGS.get(name)
        if config is None:
            raise Refused(ErrorCode.INVALID_CONFIG, f"Unknown topic config name: {name}")
        problem = config.kind.problem(value)
        if problem is not None:
            shown, reason = problem
            reason = reason.replace(NAME, name)
            raise Refused(
                ErrorCode.INVALID_CONFIG,
                f"Invalid value {shown:.1000} for configuration {name}: {reason}",
            )
    if configs.get("remote.storage.enable", "").strip().lower() == "true":
        raise Refused(
            ErrorCode.INVALID_CONFIG,
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage.",
        )


def retention_hours(environment: Mapping[str, str]) -> int:
    """log.retention.hours from the environment of a Lambda function. Raises Misconfigured."""
    text = environment.get("SAMSA_LOG_RETENTION_HOURS") or "168"
    if not re.fullmatch(r"-1|[1-9]\d*", text):
        raise Misconfigured(f"SAMSA_LOG_RETENTION_HOURS is {text!r}: -1 for ever, or 1 and more")
    return int(text)


def default_of(name: str, rules: "Rules | None") -> str:
    """The value for topics that do not set this config: Kafka's default, or this broker's own."""
    if name == "retention.ms" and rules is not None:
        return str(max(-1, rules.log_retention_hours * HOUR_MS))
    return TOPIC_CONFIGS[name].default


def number(topic: Topic, name: str, rules: "Rules | None" = None) -> int:
    """As in Kafka, any negative number means −1: no limit."""
    return max(-1, int(topic.configs.get(name) or default_of(name, rules)))
