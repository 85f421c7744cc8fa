"""Play mutated frames of every API against a broker of its own, with a neighbour beside.

    make fuzz SECONDS=600 SEED=7
    python tests/fuzz/play.py --seconds 600 --seed 7
    python tests/fuzz/play.py --replay build/fuzz/7-1234.hex     what led to a finding, again

The frames follow from the seed. What it finds it says, and saves with the frames before it.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.frames import frame_of
from fuzz.player import OPTIONS, Found, Player, save, saved
from server.process import a_samsa

SAVED = Path("build/fuzz")
TELL_EVERY_S = 10.0


def main() -> int:
    given = arguments()
    seed = given.seed if given.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder, a_samsa(Path(folder), *OPTIONS) as samsa:
        player = Player(samsa)
        frames = iter(saved(given.replay)) if given.replay else told(player, seed, given)
        findings = 0
        while True:
            try:
                player.play(frames)
                player.end()
                break
            except Found as found:
                findings += 1
                report(player, seed, found)
                if not given.keep_going or samsa.process.poll() is not None:
                    samsa.kill()
                    samsa.process.returncode = 0  # ended by this run, not by itself
                    break
        tell(player, time.monotonic() - BEGAN)
    print(f"{findings or 'nothing'} found")
    return 1 if findings else 0


def report(player: Player, seed: int, found: Found) -> None:
    number = player.last[-1].number
    file = save(SAVED, f"{seed}-{number}", player.last)
    print(f"\nseed {seed}, up to frame {number}: {found}\n")
    print(f"The last frames are in {file}. Again:")
    print(f"  {sys.executable} tests/fuzz/play.py --replay {file}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--frames", type=int, help="stop after so many, whatever the time")
    parser.add_argument("--first", type=int, default=0, help="the number of the first frame")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep-going", action="store_true", help="after a finding too")
    parser.add_argument("--replay", type=Path, metavar="FILE")
    return parser.parse_args()


def told(player: Player, seed: int, given: argparse.Namespace) -> Iterator[tuple[int, bytes]]:
    """The frames of a run, with a line of progress now and then."""
    until, next_line = BEGAN + given.seconds, BEGAN + TELL_EVERY_S
    end = None if given.frames is None else given.first + given.frames
    for number in itertools.takewhile(
        lambda n: end is None or n < end, itertools.count(given.first)
    ):
        now = time.monotonic()
        if now >= until and given.frames is None:
            return
        if now >= next_line:
            tell(player, now - BEGAN)
            next_line += TELL_EVERY_S
        yield number, frame_of(seed, number)


def tell(player: Player, seconds: float) -> None:
    counts = player.counts
    print(
        f"{seconds:6.0f} s  {counts['frames']:8,} frames  {counts['answered']:8,} answered  "
        f"{counts['closed']:7,} closed  {counts['put aside']:6,} put aside  "
        f"{counts['most resident'] >> 20} MB  {player.rounds:,} rounds beside",
        flush=True,
    )


BEGAN = time.monotonic()

if __name__ == "__main__":
    sys.exit(main())
