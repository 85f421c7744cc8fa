"""From a client's certificate to its principal: the distinguished name, and Kafka's rules that
shorten it (`ssl.principal.mapping.rules`).

The name is written as Java's X500Principal.getName writes it (RFC 2253), because that is what rules
and ACLs were written for: `CN=alice,OU=Sales,O=Example`. Attributes that RFC 2253 does not name are
written as their number, and their bytes in hexadecimal.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .principals import USER, Principal

DEFAULT_RULES = "DEFAULT"

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_SEQUENCE, _SET, _OID, _VERSION = 0x30, 0x31, 0x06, 0xA0
_STRINGS = {0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E}
"""UTF8, Printable, Teletex, IA5, General, BMP: Java reads all of them as UTF-8. What is no UTF-8 it
replaces, so that two subjects may get one name: here such a certificate is refused."""
_ESCAPED = re.compile(r'[,=+<>#;"\\]')


class _Value(NamedTuple):
    """One value of DER: its tag, what is in it, and all of its bytes."""

    tag: int
    content: bytes
    encoded: bytes


def distinguished_name(certificate: bytes) -> str:
    """The subject of an X.509 certificate in DER. ValueError if it is none."""
    try:
        (whole,) = _values(certificate)
        fields = _values(_values(_expected(whole, _SEQUENCE))[0].content)
        subject = fields[5 if fields[0].tag == _VERSION else 4]
        relative_names = [_relative_name(part) for part in _values(_expected(subject, _SEQUENCE))]
    except (ValueError, IndexError, UnicodeDecodeError):
        raise ValueError("not an X.509 certificate") from None
    return ",".join(reversed(relative_names))


def _relative_name(part: _Value) -> str:
    return "+".join(_attribute(pair) for pair in _values(_expected(part, _SET)))


def _attribute(pair: _Value) -> str:
    number, value = _values(_expected(pair, _SEQUENCE))
    oid = _oid(_expected(number, _OID))
    keyword = _KEYWORDS.get(oid)
    if keyword is None or value.tag not in _STRINGS:
        return f"{keyword or oid}=#{value.encoded.hex()}"
    return f"{keyword}={_escaped(value.content.decode())}"


def _escaped(text: str) -> str:
    text = _ESCAPED.sub(lambda match: "\\" + match[0], text).replace("\0", "\\00")
    start = len(text) - len(text.lstrip(" \r"))
    end = max(len(text.rstrip(" \r")), start)
    escape = "".join
    return (
        escape("\\" + blank for blank in text[:start])
        + text[start:end]
        + escape("\\" + blank for blank in text[end:])
    )


def _values(encoded: bytes) -> list[_Value]:
    return list(_read_values(encoded))


def _read_values(encoded: bytes) -> Iterator[_Value]:
    at = 0
    while at < len(encoded):
        tag, size, content_at = encoded[at], encoded[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            size = int.from_bytes(encoded[content_at : content_at + count], "big")
            content_at += count
        end = content_at + size
        if end > len(encoded):
            raise ValueError("a value is cut off")
        yield _Value(tag, encoded[content_at:end], encoded[at:end])
        at = end


def _expected(value: _Value, tag: int) -> bytes:
    if value.tag != tag:
        raise ValueError("another kind of value")
    return value.content


def _oid(content: bytes) -> str:
    numbers, number = [], 0
    for byte in content:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


_PART = r"(?:\\.|[^\\/])*"
_RULE = re.compile(
    rf"(?:(?P<default>DEFAULT)|RULE:(?P<pattern>{_PART})/(?P<replacement>{_PART})/(?P<case>[LU]?))"
    r"\s*(?:,|$)"
)
_BETWEEN = re.compile(r"[\s,]*")
_REFERENCE = re.compile(r"\\(?P<escaped>.)|\$(?P<number>[0-9]+)|\$\{(?P<name>\w+)\}|(?P<bad>[\\$])")

_NAMED_GROUP = re.compile(r"(?<!\\)\(\?<(?=[A-Za-z])")
"""Java writes (?<name>...)."""
_CASES: dict[str, Callable[[str], str]] = {"L": str.lower, "U": str.upper, "": str}

Rule = Callable[[str], str | None]


class PrincipalMapping:
    """The rules in their order; the first that fits the whole name gives the principal's name.
    ValueError if there is a rule that cannot be read."""

    def __init__(self, rules: str = DEFAULT_RULES) -> None:
        self._rules = [_rule(match) for match in _split(rules)]

    def name(self, distinguished: str) -> str | None:
        """None if no rule fits: Kafka then refuses the client."""
        for rule in self._rules:
            name = rule(distinguished)
            if name is not None:
                return name
        return None

    def principal(self, certificate: bytes) -> Principal | None:
        """Of a certificate in DER, which the TLS handshake has verified."""
        name = self.name(distinguished_name(certificate))
        return None if name is None else Principal(USER, name)


def _split(rules: str) -> Iterator[re.Match[str]]:
    at = 0
    while True:
        between = _BETWEEN.match(rules, at)
        at = between.end() if between else at
        if at == len(rules):
            return
        match = _RULE.match(rules, at)
        if match is None:
            raise ValueError(f"Invalid rule: {rules[at:]}")
        yield match
        at = match.end()


def _rule(match: re.Match[str]) -> Rule:
    if match["default"]:
        return lambda distinguished: distinguished
    try:
        pattern = re.compile(_NAMED_GROUP.sub("(?P<", match["pattern"]))
    except re.error as error:
        raise ValueError(f"Invalid rule: {match[0]} ({error})") from None
    replaced = _replacement(match["replacement"], pattern)
    change = _CASES[match["case"]]

    def apply(distinguished: str) -> str | None:
        if pattern.fullmatch(distinguished) is None:
            return None
        return change(pattern.sub(replaced, distinguished))

    return apply


def _replacement(text: str, pattern: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    """Java's replacements: $1, ${name}, and a backslash before what is meant as it is."""

    def part(reference: re.Match[str], found: re.Match[str]) -> str:
        if reference["escaped"] is not None:
            return reference["escaped"]
        if reference["name"] is not None:
            return found[reference["name"]] or ""
        return _numbered(reference["number"], found)

    for reference in _REFERENCE.finditer(text):
        if reference["bad"] or not _is_known(reference, pattern):
            raise ValueError(f"Invalid replacement: {text}")
    return lambda found: _REFERENCE.sub(lambda reference: part(reference, found), text)


def _is_known(reference: re.Match[str], pattern: re.Pattern[str]) -> bool:
    if reference["name"] is not None:
        return reference["name"] in pattern.groupindex
    return reference["number"] is None or pattern.groups > 0 or reference["number"][0] == "0"


def _numbered(digits: str, found: re.Match[str]) -> str:
    """As many of the digits as make the number of a group, and the rest as it is. A group that does
    not exist is text: Kafka puts a backslash before its $."""
    groups = found.re.groups
    group, used = int(digits[0]), 1
    if group > groups:
        return f"${digits}"
    while used < len(digits) and group * 10 + int(digits[used]) <= groups:
        group = group * 10 + int(digits[used])
        used += 1
    return (found[group] or "") + digits[used:]
