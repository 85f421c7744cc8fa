"""Records and batches as producers make them, and as nobody should."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from samsa.records import Codec, Record, build


def examples(count: int) -> settings:
    """So many examples, and no complaints about a slow machine."""
    return settings(max_examples=count, suppress_health_check=[HealthCheck.too_slow])


TIMES = st.integers(0, 2**42)
BLOBS = st.none() | st.binary(max_size=200) | st.builds(bytes, st.integers(0, 5000))
NAMES = st.text(max_size=8)
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=8)), max_size=2).map(tuple)
LEGACY_CODECS = st.sampled_from([Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
CODECS = st.sampled_from(list(Codec))


def _numbered(rows: list[tuple[int, bytes | None, bytes | None, tuple]]) -> list[Record]:
    return [Record(offset, *row) for offset, row in enumerate(rows)]


RECORDS = st.lists(st.tuples(TIMES, BLOBS, BLOBS, HEADERS), min_size=1, max_size=6).map(_numbered)
PLAIN_RECORDS = RECORDS.map(lambda found: [record._replace(headers=()) for record in found])
BATCHES = st.builds(build, RECORDS, codec=CODECS)


@st.composite
def mutated(draw: st.DrawFn, source: st.SearchStrategy[bytes]) -> bytes:
    """Good bytes with a few of them changed, taken out or put in."""
    data = bytearray(draw(source))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 8)))
        data[start:end] = draw(st.binary(max_size=8))
    return bytes(data)
