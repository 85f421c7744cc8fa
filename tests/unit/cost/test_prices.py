"""Prices in steps, and files laid over the one that is shipped."""

import pytest
from unit.cost.given import SHIPPED

from samsa_broker.cost import BadPrices, Prices
from samsa_broker.cost.prices import laid_over

STEPPED = {"shop": {"per_million": [[0, 1.0], [1_000, 0.8]], "per_hour": 2.0}}


@pytest.mark.parametrize(
    ("millions", "cost"), [(0, 0), (500, 500), (1_000, 1_000), (1_500, 1_400), (11_000, 9_000)]
)
def test_what_lies_above_a_step_costs_what_the_step_says(millions, cost):
    assert Prices(STEPPED).cost("shop", "per_million", millions) == pytest.approx(cost)


def test_a_price_without_steps_holds_for_any_quantity():
    assert Prices(STEPPED).cost("shop", "per_hour", 730) == pytest.approx(1_460)


def test_a_file_says_only_what_differs():
    prices = Prices(laid_over(STEPPED, {"shop": {"per_hour": 3}}))
    assert prices.cost("shop", "per_hour", 2) == 6
    assert prices.cost("shop", "per_million", 1) == 1


@pytest.mark.parametrize(
    ("above", "word"),
    [
        ({"shops": {}}, "there are shop"),
        ({"shop": {"per_day": 1}}, "per_million, per_hour"),
        ({"shop": 3}, "not of the kind"),
        ({"shop": {"per_hour": {}}}, "not of the kind"),
    ],
)
def test_what_is_misspelt_is_told_from_what_is_there(above, word):
    with pytest.raises(BadPrices, match=word):
        laid_over(STEPPED, above)


@pytest.mark.parametrize(
    "value", ["cheap", -1, True, float("nan"), float("inf"), [], [1], [[1, 2]], [[0, 1], [9]],
              [[0, 1], [5, 1], [3, 1]], [[0, "x"]]]
)  # fmt: skip
def test_what_is_no_price_is_refused(value):
    with pytest.raises(BadPrices, match=r"shop\.per_hour"):
        Prices({"shop": {"per_hour": value}})


def test_every_price_that_is_shipped_says_of_which_page_and_month_it_is():
    assert SHIPPED.region == "us-east-1"
    for section, (source, as_of) in SHIPPED.notes.items():
        assert source, section
        assert as_of or section == "assumed"
    oldest, newest = SHIPPED.oldest_and_newest
    assert "2024" < oldest <= newest < "2027"
