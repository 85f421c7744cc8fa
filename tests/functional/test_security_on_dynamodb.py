"""samsa users and acls on DynamoDB, without a broker."""

from pathlib import Path
from uuid import uuid4

import pytest

from samsa_broker.cli.main import main


def test_the_first_user_of_a_closed_cluster_is_added_to_its_table(
    moto: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    ledger = f"dynamodb://samsa-{uuid4()}?endpoint={moto}&region=eu-central-1"
    (tmp_path / "password").write_text("s3cret")
    file = str(tmp_path / "password")
    assert main(["users", "add", "admin", "--password-file", file, "--ledger", ledger]) == 0
    assert main(["users", "list", "--ledger", ledger]) == 0
    assert capsys.readouterr().out.endswith("admin\tSCRAM-SHA-512\titerations=4096\n")
    words = ["--principal", "User:admin", "--operation", "all", "--topic", "*"]
    assert main(["acls", "add", *words, "--ledger", ledger]) == 0
    assert main(["acls", "check", *words[:3], "read", "--topic", "t", "--ledger", ledger]) == 0
    assert capsys.readouterr().out.endswith(": ALL on TOPIC LITERAL *\n")
