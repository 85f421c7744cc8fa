"""The options of `samsa up` for listeners, TLS, logins and ACLs."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from samsa.access.rules import SecurityRules
from samsa.runtime.tls_context import ClientAuth, TlsFiles
from samsa.security.ssl_principal import PrincipalMapping
from samsa_broker.server.http_entry import HttpAddress
from samsa_broker.server.listeners import Kind, ListenerAddress, is_loopback
from samsa_broker.server.security_settings import FirstUser, OAuthSettings, SecuritySettings

from .options import add_number, address, port, whole

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 9092
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
DEFAULT_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_URL = re.compile(r"(?:(?P<kind>[a-z+]+)://)?(?P<where>.+)")


class Mistake(ValueError):
    """Options that do not go together. The text says which."""


def add_listeners(up: Any) -> None:
    up.add_argument("--host", default=DEFAULT_HOST, help="address to listen on (%(default)s)")
    up.add_argument(
        "--port", type=port, default=DEFAULT_PORT, help="0 picks a free one (%(default)s)"
    )
    up.add_argument(
        "--listen", metavar="KIND://HOST:PORT", type=_listener, action="append", default=[],
        help="instead of --host and --port, once for each listener: plaintext://, tls://, "
        "sasl+tls:// or sasl+plaintext://",
    )  # fmt: skip
    up.add_argument(
        "--advertise", metavar="HOST:PORT", type=_advertised, action="append", default=[],
        help="where clients are told to come (the address that they used; the other processes of "
        "its cluster tell them --host, or the address of the default route). Processes with the "
        "same one are one node: the load balancer chooses among them. With KIND:// before it, for "
        "the clients of that listener",
    )  # fmt: skip


def add_to(up: argparse.ArgumentParser) -> None:
    tls = up.add_argument_group("TLS", "Files are PEM. They are read again when they change.")
    add = partial(tls.add_argument, metavar="FILE")
    add("--tls-cert", help="the server's certificate, and behind it those of its authorities")
    add("--tls-key", help="the server's key, without a password")
    add("--tls-client-ca", help="the authorities whose clients are accepted")
    tls.add_argument(
        "--tls-client-auth", choices=("required", "wanted"),
        help="whether clients show a certificate (required, if there is a --tls-client-ca)",
    )  # fmt: skip
    tls.add_argument(
        "--ssl-principal-mapping", metavar="RULES", default="DEFAULT",
        help="Kafka's ssl.principal.mapping.rules: from a certificate's subject to a principal "
        "(%(default)s)",
    )  # fmt: skip
    _add_sasl(up.add_argument_group("SASL"))
    _add_acls(up.add_argument_group("access control"))


def _add_sasl(sasl: Any) -> None:
    sasl.add_argument(
        "--sasl-mechanisms", metavar="NAMES", type=_mechanisms, default=DEFAULT_MECHANISMS,
        help=f"of {', '.join(MECHANISMS)}, with commas between ({','.join(DEFAULT_MECHANISMS)})",
    )  # fmt: skip
    longest = "how long a login is good; then clients log in again on the same connection. 0: for "
    longest += "as long as the connection lives (Kafka's connections.max.reauth.ms)"
    add_number(sasl, "--sasl-reauthenticate-ms", whole, 0, longest, "MS")
    text = "where the keys are that sign tokens: a URL or a file"
    sasl.add_argument("--oauth-jwks", metavar="URL|FILE", help=text)
    sasl.add_argument("--oauth-issuer", metavar="NAME", help="that tokens must come from")
    sasl.add_argument(
        "--oauth-audience", metavar="NAME", action="append", default=[],
        help="that tokens must be for; with several, any of them",
    )  # fmt: skip
    sasl.add_argument(
        "--oauth-scope", metavar="NAME", action="append", default=[],
        help="that tokens must have; with several, all of them",
    )  # fmt: skip
    sasl.add_argument(
        "--oauth-principal-claim", metavar="NAME", default="sub",
        help="the claim that names the user (%(default)s)",
    )  # fmt: skip
    sasl.add_argument(
        "--oauth-scope-claim", metavar="NAME", default="scope",
        help="the claim that lists the scopes (%(default)s)",
    )  # fmt: skip
    skew = "how far the clocks of broker and issuer may be apart"
    add_number(sasl, "--oauth-clock-skew-ms", whole, 30_000, skew, "MS")


def _add_acls(group: Any) -> None:
    group.add_argument(
        "--acls", action="store_true",
        help="check every request against ACLs. Without it, every client may do everything",
    )  # fmt: skip
    group.add_argument(
        "--super-user", metavar="User:NAME", action="append", default=[], type=_principal,
        help="may do everything; may be given more than once",
    )  # fmt: skip
    group.add_argument(
        "--allow-everyone-if-no-acl", action="store_true",
        help="resources without any ACL are open to all clients, as with Kafka's "
        "allow.everyone.if.no.acl.found",
    )  # fmt: skip


# From text


def _listener(text: str) -> ListenerAddress:
    kind, where = _split(text)
    if kind is None:
        names = ", ".join(f"{each.value}://" for each in Kind)
        raise argparse.ArgumentTypeError(f"{text!r} does not begin with one of {names}")
    return ListenerAddress(kind, *address(where))


def _advertised(text: str) -> tuple[Kind | None, tuple[str, int]]:
    kind, where = _split(text)
    return kind, address(where)


def _split(text: str) -> tuple[Kind | None, str]:
    match = _URL.fullmatch(text)
    kind = match["kind"] if match else None
    if match is None or (kind is not None and kind not in {each.value for each in Kind}):
        raise argparse.ArgumentTypeError(f"{text!r} is not KIND://HOST:PORT")
    return Kind(kind) if kind else None, match["where"]


def _mechanisms(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip().upper() for name in text.split(",")))
    unknown = [name for name in names if name not in MECHANISMS]
    if "AWS_MSK_IAM" in unknown:
        raise argparse.ArgumentTypeError(
            "AWS_MSK_IAM can be checked by AWS only; use OAUTHBEARER with a token of AWS"
        )
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(MECHANISMS)}")
    return names


def _principal(text: str) -> str:
    kind, colon, name = text.partition(":")
    if not (kind and colon and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not User:NAME")
    return text


# From options to settings


def listeners(given: argparse.Namespace) -> tuple[ListenerAddress, ...]:
    """Raises Mistake."""
    if given.listen and (given.host, given.port) != (DEFAULT_HOST, DEFAULT_PORT):
        raise Mistake("--listen stands for --host and --port: give it, or these")
    found = given.listen or [ListenerAddress(Kind.PLAINTEXT, given.host, given.port)]
    kinds = [each.kind for each in found]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise Mistake(f"two listeners are {kind.value}://; there may be one of each kind")
    return tuple(_with_advertised(each, found, given.advertise) for each in found)


def _with_advertised(
    listener: ListenerAddress,
    every: Sequence[ListenerAddress],
    advertised: Sequence[tuple[Kind | None, tuple[str, int]]],
) -> ListenerAddress:
    by_kind = dict(advertised)
    if len(by_kind) < len(advertised):
        raise Mistake("--advertise is given twice for one listener")
    for kind in by_kind:
        if kind is None and len(every) > 1:
            raise Mistake("with several listeners, --advertise needs KIND:// before the address")
        if kind is not None and kind not in {each.kind for each in every}:
            raise Mistake(f"--advertise {kind.value}://… has no --listen {kind.value}://…")
    where = by_kind.get(listener.kind, by_kind.get(None))
    return ListenerAddress(listener.kind, listener.host, listener.port, where)


def tls_files(
    given: argparse.Namespace,
    listening: Sequence[ListenerAddress],
    http: Sequence[HttpAddress] = (),
) -> TlsFiles | None:
    """Raises Mistake."""
    wanted = [f"--listen {each.kind.value}://…" for each in listening if each.kind.has_tls]
    wanted += [f"{each}" for each in http if each.has_tls]
    named = [name for name in ("cert", "key", "client_ca") if getattr(given, f"tls_{name}")]
    if not wanted:
        if named:
            raise Mistake(
                f"--tls-{named[0].replace('_', '-')} needs --listen tls://… or sasl+tls://…, "
                "or --http https://…"
            )
        return None
    if not (given.tls_cert and given.tls_key):
        raise Mistake(f"{wanted[0]} needs --tls-cert and --tls-key")
    if given.tls_client_auth and not given.tls_client_ca:
        raise Mistake("--tls-client-auth needs --tls-client-ca")
    auth = ClientAuth.NONE
    if given.tls_client_ca:
        auth = ClientAuth[(given.tls_client_auth or "required").upper()]
    return TlsFiles(given.tls_cert, given.tls_key, given.tls_client_ca, auth)


def security(
    given: argparse.Namespace,
    listening: Sequence[ListenerAddress],
    first_user: FirstUser | None = None,
) -> SecuritySettings | None:
    """None if there is nothing to check. Raises Mistake."""
    has_sasl = any(each.kind.has_sasl for each in listening)
    knows_clients = has_sasl or given.tls_client_ca
    if not given.acls and (given.super_user or given.allow_everyone_if_no_acl):
        raise Mistake("--super-user and --allow-everyone-if-no-acl need --acls")
    if not (given.acls or knows_clients):
        return None
    try:
        PrincipalMapping(given.ssl_principal_mapping)
    except ValueError as error:
        raise Mistake(f"--ssl-principal-mapping: {error}") from error
    return SecuritySettings(
        rules=SecurityRules(
            has_acls=given.acls,
            super_users=frozenset(given.super_user),
            allow_if_no_acl=given.allow_everyone_if_no_acl,
        ),
        mechanisms=given.sasl_mechanisms,
        reauthenticate_ms=given.sasl_reauthenticate_ms,
        principal_mapping=given.ssl_principal_mapping,
        oauth=_oauth(given),
        first_user=first_user,
    )


def _oauth(given: argparse.Namespace) -> OAuthSettings | None:
    if "OAUTHBEARER" not in given.sasl_mechanisms:
        if given.oauth_jwks:
            raise Mistake("--oauth-jwks needs OAUTHBEARER among --sasl-mechanisms")
        return None
    if find_spec("joserfc") is None:
        raise Mistake("OAUTHBEARER needs joserfc; try: pip install 'samsa-broker[oauth]'")
    if not (given.oauth_jwks and given.oauth_issuer and given.oauth_audience):
        raise Mistake("OAUTHBEARER needs --oauth-jwks, --oauth-issuer and --oauth-audience")
    return OAuthSettings(
        given.oauth_jwks,
        given.oauth_issuer,
        frozenset(given.oauth_audience),
        frozenset(given.oauth_scope),
        given.oauth_principal_claim,
        given.oauth_scope_claim,
        given.oauth_clock_skew_ms,
    )


def warnings(
    given: argparse.Namespace,
    listening: Sequence[ListenerAddress],
    http: Sequence[HttpAddress],
    *,
    is_secured: bool,
) -> list[str]:
    """Warnings about listeners that other machines can reach."""
    found = [text for each in listening if (text := _warning(given, each)) is not None]
    for each in http:
        if is_secured and each.needs_login and not each.has_tls:
            found.append(f"{each} sends logins and records unencrypted: use https:// instead")
        elif not is_secured and not is_loopback(each.host):
            found.append(f"{each} asks no client who it is: all who can connect may use it")
    return found


def _warning(given: argparse.Namespace, listener: ListenerAddress) -> str | None:
    if is_loopback(listener.host):
        return None
    if listener.kind is Kind.SASL_PLAINTEXT:
        return f"{listener} sends logins and records unencrypted: use sasl+tls:// instead"
    is_known = listener.kind.has_sasl or (listener.kind.has_tls and given.tls_client_ca)
    if is_known or given.acls:
        return None
    return f"{listener} asks no client who it is: each may read and change everything"
