"""Attacks with frames that are none."""

import random

from server.process import Samsa

SEED = 3
FRAMES = 300
UNKNOWN_API = b"\x70\0"


def connections_that_send_noise(samsa: Samsa) -> None:
    noise = random.Random(SEED)
    for _ in range(FRAMES):
        with samsa.peer() as peer:
            peer.say(b"\0\0\0\x42" + UNKNOWN_API + noise.randbytes(64))
            assert peer.is_closed()


def frames_of_impossible_sizes(samsa: Samsa) -> None:
    for size in (-1, -(2**31), 2**31 - 1, 100 * 1024 * 1024 + 1) * 50:
        with samsa.peer() as peer:
            peer.say(size.to_bytes(4, "big", signed=True) + b"x" * 100)
            assert peer.is_closed()
