from samsa.bounded import Bounded


def test_the_item_that_was_kept_longest_ago_goes_first():
    some = Bounded[str, int](2)
    for number, name in enumerate("abc"):
        some.keep(name, number)
    assert dict(some) == {"b": 1, "c": 2}


def test_an_item_that_is_used_or_kept_again_stays():
    some = Bounded[str, int](2)
    some.keep("a", 1)
    some.keep("b", 2)
    assert some.use("a") == 1
    some.keep("c", 3)
    assert list(some) == ["a", "c"]
    some.keep("a", 4)
    some.keep("d", 5)
    assert dict(some) == {"a": 4, "d": 5}


def test_an_item_that_is_not_there_is_none():
    assert Bounded[str, int](1).use("a") is None


def test_what_has_to_go_is_returned():
    some = Bounded[str, int](1)
    assert some.keep("a", 1) is None
    assert some.keep("a", 2) is None
    assert some.keep("b", 3) == 2
