"""The lines of the serverless demo."""

import pytest

from samsa_broker.demo.hops import (
    Priced,
    bill_so_far,
    bill_table,
    hop_line,
    micro,
    records,
    run_text,
    sized,
)

WARM = run_text("Produce", 0.0, 0.0171, {"UpdateItem": 1, "GetItem": 2}, False)
COLD = run_text("$connect", 1.234, 0.074, {}, False)


def test_an_invocation_tells_its_time_and_its_calls_by_name():
    assert WARM == "Produce                     17 ms  warm, GetItem 2, UpdateItem 1"
    assert COLD == "$connect                    74 ms  cold (1,234 ms to start)"
    assert "FAILED, warm" in run_text("Fetch", 0.0, 0.01, {}, True)


def test_the_columns_of_all_hops_are_aligned():
    lines = [
        hop_line(0.5, "invoke gateway", WARM),
        hop_line(12.25, "shim → API Gateway", sized("Produce", 368)),
        hop_line(123.0, "push → connection", sized("wake-up with records", 130_000)),
    ]
    assert len({line.index(" s  ") for line in lines}) == 1
    starts = [
        line.index(what) for line, what in zip(lines, ("Produce", "Produce", "wake"), strict=True)
    ]
    assert len(set(starts)) == 1
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 records"), (1, "1 record"), (1_234, "1,234 records")]
)
def test_records_are_counted_in_words(count: int, text: str):
    assert records(count) == text


def test_a_bill_is_in_micro_dollars_and_adds_up():
    table = bill_table("Bill", [Priced("one", "1 call", 0.25e-6), Priced("two", "2 calls", 1e-3)])
    title, first, second, total = table.splitlines()
    assert title.split() == ["Bill", "micro-dollars"]
    assert first.split()[-1] == "0.25"
    assert second.split()[-1] == "1,000.00"
    assert total.split() == ["total", "1,000.25"]
    assert len({len(row) for row in (title, first, second, total)}) == 1
    assert micro(0.0) == "0.00"
    assert bill_so_far(2e-6, 3, 1) == (
        "bill so far: 2.00 micro-dollars (1 record delivered, 3 invocations)"
    )
