"""The bill of what was really used, beside the prices that AWS publishes."""

import tomllib

import pytest

from samsa_broker.cli.cost import shipped
from samsa_broker.cost import Prices
from samsa_broker.cost.of_usage import Used, bill_of

PRICES = Prices(tomllib.loads(shipped()))
NOTHING = Used(0, 0, 0, 0, 0, 0, 0, 0)
MICRO = 1e-6
ONE_EACH = {
    "invocations": 0.20 * MICRO,
    "gb_s": 13.3334 * MICRO,
    "messages": 1.00 * MICRO,
    "connection_s": 0.25 * MICRO / 60,
    "writes": 0.625 * MICRO,
    "reads": 0.125 * MICRO,
    "puts": 5 * MICRO,
    "gets": 0.4 * MICRO,
}


def test_nothing_costs_nothing():
    assert bill_of(NOTHING, PRICES).total == 0


@pytest.mark.parametrize("what", Used._fields)
def test_each_of_them_has_its_price(what: str):
    bill = bill_of(NOTHING._replace(**{what: 1}), PRICES)
    assert bill.total == pytest.approx(ONE_EACH[what])
    assert sum(line.dollars > 0 for line in bill.lines) == 1
