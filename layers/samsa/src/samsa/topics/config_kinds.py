"""Types and limits of config values, with Kafka's error messages."""

import re
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, TypeAlias

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
_REPLICAS = re.compile(r"\*|\d+:\d+(,\d+:\d+)*")


class ConfigType(IntEnum):
    """Numbered as in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7


Problem: TypeAlias = tuple[str, str] | None
"""The value as it was understood, and what is wrong with it."""
NAME = "{name}"
"""Placeholder for the config's name in a problem."""


class ConfigKind(NamedTuple):
    type: ConfigType
    problem: Callable[[str], Problem]


def _number(type_: ConfigType, least: int, most: int) -> ConfigKind:
    bits = INT64_MAX if type_ is ConfigType.LONG else INT32_MAX

    def problem(value: str) -> Problem:
        text = value.strip()
        if re.fullmatch(r"[+-]?\d{1,19}", text) is None or not -bits - 1 <= int(text) <= bits:
            return text, f"Not a number of type {type_.name}"
        if int(text) < least:
            return text, f"Value must be at least {least}"
        return (text, f"Value must be no more than {most}") if int(text) > most else None

    return ConfigKind(type_, problem)


def int_(least: int, most: int = INT32_MAX) -> ConfigKind:
    return _number(ConfigType.INT, least, most)


def long(least: int = -INT64_MAX - 1) -> ConfigKind:
    return _number(ConfigType.LONG, least, INT64_MAX)


def one_of(*words: str) -> ConfigKind:
    def problem(value: str) -> Problem:
        text = value.strip()
        return None if text in words else (text, f"String must be one of: {', '.join(words)}")

    return ConfigKind(ConfigType.STRING, problem)


def some_of(*words: str) -> ConfigKind:
    def problem(value: str) -> Problem:
        bad = [part for part in parts(value) if part not in words]
        return (bad[0], f"String must be one of: {', '.join(words)}") if bad else None

    return ConfigKind(ConfigType.LIST, problem)


def parts(value: str) -> list[str]:
    """The elements of a list value: separated by commas."""
    return [part.strip() for part in value.split(",")] if value.strip() else []


def _yes_no(value: str) -> Problem:
    known = value.strip().lower() in ("true", "false")
    return None if known else (value, "Expected value to be either true or false")


def _ratio(value: str) -> Problem:
    try:
        ratio = float(value)
    except ValueError:
        return value.strip(), "Not a number of type DOUBLE"
    if ratio < 0:
        return str(ratio), "Value must be at least 0"
    return (str(ratio), "Value must be no more than 1") if not ratio <= 1 else None


def _gzip_level(value: str) -> Problem:
    wrong = int_(-INT32_MAX - 1).problem(value)
    if wrong is None and int(value) not in (-1, *range(1, 10)):
        return value.strip(), "Value must be between 1 and 9 or equal to -1"
    return wrong


def _replicas(value: str) -> Problem:
    listed = parts(value)
    if not listed or _REPLICAS.fullmatch(",".join(listed)):
        return None
    return f"[{', '.join(listed)}]", (
        f"{NAME} must be the literal '*' or a list of replicas in the following format: "
        "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    )


YES_NO = ConfigKind(ConfigType.BOOLEAN, _yes_no)
RATIO = ConfigKind(ConfigType.DOUBLE, _ratio)
GZIP_LEVEL = ConfigKind(ConfigType.INT, _gzip_level)
REPLICAS = ConfigKind(ConfigType.LIST, _replicas)
