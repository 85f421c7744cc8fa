"""`--zone`: a name that fits into an item of the ledger."""

import pytest

from samsa.ports.bounds import LONGEST_ZONE
from samsa_broker.cli.main import parser


@pytest.mark.parametrize("name", ["eu-central-1a", "z" * LONGEST_ZONE])
def test_a_zone_is_taken_as_it_is(name: str):
    assert parser("up").parse_args(["up", "--zone", name]).zone == name


@pytest.mark.parametrize("name", ["", "z" * (LONGEST_ZONE + 1), "eu\ncentral"])
def test_what_is_no_name_of_a_zone_is_refused(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        parser("up").parse_args(["up", "--zone", name])
    assert "--zone" in capsys.readouterr().err


def test_without_it_a_process_has_no_zone():
    assert parser("up").parse_args(["up"]).zone is None
