"""A wrong flag: what was meant, and where to look."""

import pytest

from samsa_broker.cli.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["up", "--prot", "1"], "--prot 1 (did you mean --port?); see samsa up --help"),
        (["topics", "create", "a", "--partitons=3"], "--partitions?); see samsa topics create"),
        (["up", "--xyzzy"], "unrecognized arguments: --xyzzy; see samsa up --help"),
        (["topics", "list", "surplus"], "unrecognized arguments: surplus; see samsa topics list"),
    ],
)
def test_a_wrong_flag_is_told_the_nearest_right_one(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
