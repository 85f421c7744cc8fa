"""Fuzz every decoder: the first three bytes choose the message and version, the rest is its body.

    python tests/property/wire/fuzz_decoder.py                    until stopped
    python tests/property/wire/fuzz_decoder.py -runs=20000 -seed=1

Bytes may be a row or a DecodeError; a row must survive its own encoding. Anything else is a find.
"""

import sys

import atheris

with atheris.instrument_imports(include=["samsa.wire"]):
    from samsa.wire.apis import APIS
    from samsa.wire.errors import DecodeError
    from samsa.wire.frame import read_request
    from samsa.wire.source import GeneratedSource

ORDER = list(APIS.values())
CHOICE = 3
compiled = GeneratedSource.function


def instrumented(self, parameter, label):
    """The compiled codecs are what is fuzzed, so their branches must count as coverage."""
    return atheris.instrument_func(compiled(self, parameter, label))


def fuzz(data: bytes) -> None:
    if len(data) < CHOICE:
        return
    api = ORDER[data[0] % len(ORDER)]
    version = api.versions[data[2] % len(api.versions)]
    message = api.response if data[1] % 2 else api.request
    read_anything(data[CHOICE:])
    try:
        row = message.decode(version, memoryview(data)[CHOICE:])
    except DecodeError:
        return
    again = message.decode(version, memoryview(message.encode_bytes(version, row)))
    if again != row:
        raise AssertionError(f"{row!r} came back as {again!r}")


def read_anything(frame: bytes) -> None:
    try:
        read_request(memoryview(frame))
    except DecodeError:
        return


def main() -> None:
    GeneratedSource.function = instrumented
    atheris.Setup(sys.argv, fuzz)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
