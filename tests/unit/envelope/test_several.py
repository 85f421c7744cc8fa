import pytest

from samsa_websocket.envelope import EnvelopeError, apart, joined

FRAMES = (b"first", b"", b"third")


def test_frames_that_were_joined_come_apart():
    assert [bytes(each) for each in apart(b"".join(joined(FRAMES)))] == list(FRAMES)


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_frames_that_are_cut_off_are_none(cut: int):
    with pytest.raises(EnvelopeError):
        apart(b"".join(joined(FRAMES))[:-cut])


def test_a_frame_of_less_than_nothing_is_none():
    with pytest.raises(EnvelopeError):
        apart(b"\xff\xff\xff\xff" + b"rest")
