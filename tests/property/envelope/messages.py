"""Messages of every kind, and texts that are nearly messages."""

from typing import Any

from hypothesis import strategies as st

from samsa_websocket import envelope

SEQ = st.integers(0, 2**63 - 1)
MS = st.integers(0, 2**40)
FRAMES = st.binary(max_size=300)
# Group ids are any text, line breaks and halves of surrogate pairs included.
WORDS = st.text(st.characters(), max_size=20)
NAMES = st.lists(WORDS, max_size=4).map(tuple)
SHIFTS = st.just(0) | st.integers(1 - 2**63, 2**63 - 1)
RANGES = st.builds(envelope.UrlRange, st.sampled_from(["u", "v", "w"]), SEQ, SEQ, SHIFTS)
PIECES = st.binary(max_size=40) | RANGES
HEADERS = st.dictionaries(WORDS, WORDS, max_size=3).map(lambda found: tuple(found.items()))

NEWS = st.tuples(st.tuples(WORDS, WORDS, WORDS, SEQ, SEQ, SEQ, SEQ), st.binary(max_size=40))


def _wake(names: tuple[str, ...], news: list[tuple[tuple[Any, ...], bytes]]) -> envelope.Wake:
    told = tuple(envelope.News(*fields, len(data)) for fields, data in news)
    return envelope.Wake(names, told, b"".join(data for _, data in news))


MESSAGES = st.one_of(
    st.builds(envelope.Request, SEQ, FRAMES, MS, st.booleans()),
    st.builds(envelope.Reply, SEQ, FRAMES, st.booleans(), MS),
    st.builds(envelope.ParkedReply, SEQ, MS, NAMES, FRAMES, MS),
    st.builds(_wake, NAMES, st.lists(NEWS, max_size=3)),
    st.builds(envelope.Upload, SEQ, SEQ, WORDS),
    st.builds(envelope.Ticket, SEQ, WORDS, WORDS, HEADERS),
    st.builds(envelope.Reference, SEQ, WORDS, SEQ, WORDS, MS, st.booleans()),
    st.builds(envelope.Gather, SEQ, st.lists(PIECES, max_size=6).map(tuple), st.booleans(), MS),
    st.just(envelope.Ping()),
    st.builds(envelope.Error, SEQ, st.sampled_from(list(envelope.ErrorAction)), WORDS),
    st.builds(envelope.Failure, WORDS, WORDS),
)


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good text with a few of its characters changed, taken out or put in."""
    text = envelope.encode(draw(MESSAGES))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 6)))
        new = draw(
            st.text(max_size=4) | st.sampled_from(["[", "{", "null", "-1", "1e9", '"', "\n"])
        )
        text = text[:start] + new + text[end:]
    return text
