"""TLS as a listener speaks it: version 1.2 and above, from files that may be replaced.

A certificate is renewed by replacing its files. New connections use the new one within
`LOOK_EVERY_S`; connections that exist go on. While the files do not fit together, as in the middle
of a replacement, the last ones that did stay in use.
"""

import asyncio
import logging
import os
import ssl
from enum import Enum
from typing import NamedTuple

from samsa.runtime.logs import Repeated, event

log = logging.getLogger("samsa.tls")
LOOK_EVERY_S = 2.0


class ClientAuth(Enum):
    """Whether clients show a certificate."""

    NONE = ssl.CERT_NONE
    WANTED = ssl.CERT_OPTIONAL
    REQUIRED = ssl.CERT_REQUIRED


class TlsFiles(NamedTuple):
    certificate: str
    """PEM: the server's certificate, and behind it those of the authorities that signed it."""
    key: str
    client_ca: str | None = None
    """PEM: the authorities whose clients are accepted."""
    client_auth: ClientAuth = ClientAuth.NONE

    @property
    def names(self) -> list[str]:
        return [name for name in (self.certificate, self.key, self.client_ca) if name]


class BadTlsFiles(OSError):
    """The files do not make a server. The text says why."""


class TlsContext:
    """The TLS context of new connections."""

    def __init__(self, files: TlsFiles) -> None:
        """Raises BadTlsFiles."""
        self.files = files
        self._stamps = _stamps(files)
        self.current = made(files)
        self._failures = Repeated(log, logging.ERROR, "new TLS files cannot be used")

    def for_asyncio(self) -> ssl.SSLContext:
        """For a server that takes one context: each handshake is made with the current files."""
        context = made(self.files)

        def choose(shaking: "ssl.SSLSocket | ssl.SSLObject", *_: object) -> None:
            shaking.context = self.current

        context.sni_callback = choose
        return context

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            await asyncio.to_thread(self.look)

    def look(self) -> None:
        """Use the files if they have changed."""
        try:
            stamps = _stamps(self.files)
            if stamps == self._stamps:
                return
            self.current = made(self.files)
        except BadTlsFiles as error:
            self._failures.happened(why=error.strerror)
            return
        self._stamps = stamps
        event(log, logging.INFO, "new TLS files", certificate=self.files.certificate)


def made(files: TlsFiles) -> ssl.SSLContext:
    """Raises BadTlsFiles."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0  # to make and to read two takes a fifth of a login: decision 35
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(files.certificate, files.key, password=_no_password)
    except (OSError, ValueError) as error:
        raise _bad(f"{files.certificate}, {files.key}", error) from error
    if files.client_ca is not None:
        try:
            context.load_verify_locations(files.client_ca)
        except (OSError, ValueError) as error:
            raise _bad(files.client_ca, error) from error
        context.verify_mode = ssl.VerifyMode(files.client_auth.value)
    return context


def _no_password() -> str:
    """Without this, OpenSSL would ask at the terminal and wait."""
    raise ValueError("the key is encrypted; give one without a password")


def _stamps(files: TlsFiles) -> list[tuple[int, int, int]]:
    """Raises BadTlsFiles."""
    try:
        found = [os.stat(name) for name in files.names]
    except OSError as error:
        raise _bad(str(error.filename), error) from error
    return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in found]


def _bad(name: str, error: Exception) -> BadTlsFiles:
    if isinstance(error, ssl.SSLError):
        why = error.reason or "no PEM of a certificate and its key"
    else:
        why = getattr(error, "strerror", None) or str(error)
    return BadTlsFiles(0, f"{name}: {why}")
