"""`samsa cost` as it is typed, and the tables of docs/cost.md, which are what it prints."""

import json
import re
import shlex
from pathlib import Path

import pytest

from samsa_broker.cli.main import main

PAGE = Path(__file__).parents[3] / "docs" / "cost.md"
SHOWN = re.compile(r"<!-- (samsa cost [^>]*) -->\n((?:\|[^\n]*\n)+)")


class Shell:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> str:
        assert main(["cost", *arguments]) == 0
        return self._capsys.readouterr().out

    def fails(self, *arguments: str) -> str:
        try:
            code: object = main(["cost", *arguments])
        except SystemExit as ended:
            code = ended.code
        assert code in (1, 2)
        told = self._capsys.readouterr()
        assert told.out == ""
        return told.err.splitlines()[-1]


@pytest.fixture
def samsa_cost(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def test_all_four_are_shown_line_by_line_and_their_lines_add_up(samsa_cost: Shell):
    said = samsa_cost("--messages-per-second", "25", "--size", "2,000")
    assert "25 messages/s of 2,000 bytes" in said
    for name in ("Samsa, functions", "Samsa, processes", "MSK Serverless", "Kafka on EC2"):
        block = next(part for part in said.split("\n\n") if part.startswith(name))
        amounts = [float(row.split()[-1].replace(",", "")) for row in block.splitlines()[1:]]
        assert sum(amounts[:-1]) == pytest.approx(amounts[-1], abs=0.01 * len(amounts))


def test_columns_are_aligned(samsa_cost: Shell):
    said = samsa_cost("--messages-per-second", "90000")
    rows = [row for row in said.splitlines() if re.search(r"\d\.\d\d$", row) and row[:2] == "  "]
    assert len(rows) > 20
    assert len({len(row) for row in rows}) == 1


def test_a_program_gets_the_same_as_a_person(samsa_cost: Shell):
    flags = ("--messages-per-second", "7", "--consumers", "3", "--groups", "3", "--keyed")
    told = json.loads(samsa_cost(*flags, "--json"))
    assert told["load"]["messages_per_second"] == 7
    assert (told["load"]["groups"], told["load"]["keyed"]) == (3, True)
    said = samsa_cost(*flags)
    for bill in told["bills"]:
        assert f"{bill['total']:,.2f}" in said
        assert bill["total"] == pytest.approx(sum(line["dollars"] for line in bill["lines"]))
    assert len(told["break_even"]) == 4
    assert told["prices"]["s3"]["as_of"]


def test_a_limit_that_the_load_is_beyond_is_said(samsa_cost: Shell):
    assert "  beyond 10 producers" in samsa_cost("--messages-per-second", "300000")
    assert "beyond" not in samsa_cost("--messages-per-second", "1")


@pytest.mark.parametrize(
    "flags", ["--window-ms 250 --shim-linger-ms 100", "--linger-ms 500 --batch-bytes 1000000"]
)
def test_what_waiting_would_save_is_said_where_it_would(samsa_cost: Shell, flags: str):
    busy = samsa_cost("--messages-per-second", "1000")
    there = json.loads(samsa_cost("--messages-per-second", "1000", *flags.split(), "--json"))
    functions, processes = (bill["total"] for bill in there["bills"][:2])
    assert f"With {flags}: functions {functions:,.2f}, processes {processes:,.2f}" in busy
    assert f"With {flags}:" not in samsa_cost("--messages-per-second", "1000", *flags.split())
    assert "With --" not in samsa_cost("--messages-per-second", "0")


def test_how_samsa_is_run_is_said(samsa_cost: Shell):
    flags = ("--window-ms", "250", "--shim-linger-ms", "100", "--load-balancer")
    said = samsa_cost(*flags)
    assert "a window of 250 ms, a linger of 100 ms" in said
    assert "load balancer  " in said
    assert "load balancer  " not in samsa_cost(*flags[:-1])
    told = json.loads(samsa_cost(*flags, "--json"))["load"]
    assert (told["window_ms"], told["shim_linger_ms"], told["load_balancer"]) == (250, 100, True)


def test_the_shipped_prices_are_a_file_that_can_be_given_back(samsa_cost: Shell, tmp_path: Path):
    file = tmp_path / "same.toml"
    file.write_text(samsa_cost("--show-prices"))
    assert samsa_cost("--prices", str(file)) == samsa_cost()


def test_a_file_of_ones_own_prices_is_laid_over_ours(samsa_cost: Shell, tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('region = "eu-central-1"\n[msk_serverless]\nper_cluster_hour = 10\n')
    told = json.loads(samsa_cost("--prices", str(file), "--json"))
    assert told["region"] == "eu-central-1"
    (msk,) = [bill for bill in told["bills"] if bill["name"] == "MSK Serverless"]
    assert msk["lines"][0]["dollars"] == 7_300


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[s3", "is not TOML"),
        ("[s3]\nper_put = 1", "per_thousand_puts"),
        ("[s3]\nper_gb_month = -1", "s3.per_gb_month"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_why(
    samsa_cost: Shell, tmp_path: Path, text: str, word: str
):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    said = samsa_cost.fails("--prices", str(file))
    assert said.startswith(f"samsa: {file}")
    assert word in said


@pytest.mark.parametrize(
    ("flags", "next_step"),
    [
        ("--prices nowhere.toml", "nowhere.toml: No such file"),
        ("--producers 0", "--producers 1, or --messages-per-second 0"),
        ("--consumers 3 --groups 5", "--groups 3 at most"),
        ("--messages-per-second -5", "is not a number from 0"),
        ("--messages-per-second many", "is not a number from 0"),
        ("--messages-per-second nan", "is not a number from 0"),
        ("--size 0", "is not a whole number from 1"),
        ("--size 1.5", "is not a whole number from 1"),
        ("--partitions 0", "is not a whole number from 1"),
        ("--window-ms -1", "is not a number from 0"),
        ("--json --table", "not allowed with"),
    ],
)
def test_wrong_flags_are_answered_with_what_would_be_right(
    samsa_cost: Shell, flags: str, next_step: str
):
    assert next_step in samsa_cost.fails(*flags.split())


def test_a_load_of_nothing_at_all_has_a_price(samsa_cost: Shell):
    flags = "--messages-per-second 0 --producers 0 --consumers 0"
    assert "no consumers" in samsa_cost(*flags.split())


def test_the_table_marks_the_cheapest_of_each_row(samsa_cost: Shell):
    rows = [row.strip("| ").split(" | ") for row in samsa_cost("--table").splitlines()[2:]]
    assert [row[0] for row in rows][:2] == ["no clients at all", "0, all idle"]
    for row in rows:
        prices = [
            (float(re.sub(r"[*$,]", "", cell)), "*" in cell) for cell in row[1:] if cell != "–"
        ]
        cheapest = min(price for price, _ in prices)
        assert [price for price, marked in prices if marked] == [cheapest]


def test_the_page_shows_what_the_command_prints(samsa_cost: Shell):
    shown = SHOWN.findall(PAGE.read_text("utf-8"))
    assert len(shown) == 2
    for command, rows in shown:
        _, _, *flags = shlex.split(command)
        assert rows == samsa_cost(*flags), f"run `{command}`, and put what it prints there"
