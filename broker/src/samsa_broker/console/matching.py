"""Which records a search finds: text or a regular expression, in keys, values and headers.

Text is compared byte by byte. Regular expressions are RE2's, so none takes longer than its input is
long; long values are matched in pieces, so that none holds the interpreter for long either.
"""

from collections.abc import Callable, Generator, Iterator
from typing import NamedTuple, TypeAlias

from samsa.groups.patterns import BadPattern, compile_pattern
from samsa.records.record import Record

from .positions import wrong

PLACES = ("key", "value", "headers")
PIECE, OVERLAP = 4096, 1024
"""A match of a regular expression that is longer than the overlap may be missed in a value that is
longer than a piece."""
Fits: TypeAlias = Callable[[bytes], object]


class Matcher(NamedTuple):
    fits: Fits
    places: frozenset[str]
    is_regex: bool

    def finds(self, record: Record) -> Generator[None, None, bool]:
        for part in self._parts(record):
            for piece in self._pieces(part):
                if self.fits(piece):
                    return True
                yield
        return False

    def _parts(self, record: Record) -> Iterator[bytes]:
        if "value" in self.places and record.value:
            yield record.value
        if "key" in self.places and record.key:
            yield record.key
        if "headers" in self.places:
            for name, value in record.headers:
                yield name.encode(errors="surrogatepass")
                if value:
                    yield value

    def _pieces(self, part: bytes) -> Iterator[bytes]:
        if not self.is_regex or len(part) <= PIECE:
            yield part
            return
        for at in range(0, len(part) - OVERLAP, PIECE - OVERLAP):
            yield part[at : at + PIECE]


def matcher(text: str, places: str, is_regex: bool) -> Matcher:
    """Raises RequestFailed."""
    among = frozenset(places.split(","))
    if not among <= set(PLACES):
        raise wrong(f"in is some of {','.join(PLACES)}, not {places[:100]!r}")
    if not is_regex:
        needle = text.encode(errors="surrogatepass")
        return Matcher(lambda data: needle in data, among, is_regex)
    try:
        return Matcher(compile_pattern(text).search, among, is_regex)
    except BadPattern as error:
        raise wrong(f"q is not a regular expression of RE2: {error}") from error
