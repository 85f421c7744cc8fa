"""A short, repeatable run of what `make fuzz` plays for as long as it is told."""

from pathlib import Path

from fuzz.frames import frame_of
from fuzz.player import OPTIONS, Found, Player, save, saved
from server.process import a_samsa

from samsa.wire.apis import APIS

SEED, FRAMES = 19, 20_000


def test_twenty_thousand_mutated_frames_are_answered_or_end_their_own_connection(
    tmp_path: Path,
) -> None:
    with a_samsa(tmp_path, *OPTIONS) as samsa:
        player = Player(samsa)
        try:
            player.play((number, frame_of(SEED, number)) for number in range(FRAMES))
            player.end()
        except Found as found:
            file = save(Path("build/fuzz"), f"{SEED}-{player.last[-1].number}", player.last)
            again = f"python tests/fuzz/play.py --replay {file}"
            raise AssertionError(f"seed {SEED}: {found}\nAgain: {again}") from found
        assert player.counts["frames"] == FRAMES
        assert player.counts["answered"] > FRAMES // 3
        assert player.counts["closed"] > FRAMES // 5
        assert set(APIS) - set(player.answered) == set(), "APIs that never answered"
        assert player.rounds > FRAMES // 500  # and the neighbour did not notice


def test_a_frame_follows_from_the_seed_and_its_number() -> None:
    frames = [frame_of(1, number) for number in range(300)]
    assert frames == [frame_of(1, number) for number in range(300)]
    assert frames != [frame_of(2, number) for number in range(300)]
    assert len(set(frames)) > 290


def test_the_frames_of_a_finding_can_be_played_again(tmp_path: Path) -> None:
    with a_samsa(tmp_path / "one") as samsa:
        player = Player(samsa)
        player.play((number, frame_of(3, number)) for number in range(40))
        player.end()
        file = save(tmp_path, "3-39", player.last)
        assert saved(file) == [(each.number, each.frame) for each in player.last]
        assert [each.number for each in player.last] == list(range(40))
    with a_samsa(tmp_path / "two") as samsa:
        player = Player(samsa)
        player.play(saved(file))
        player.end()
        assert player.counts["frames"] == 40
