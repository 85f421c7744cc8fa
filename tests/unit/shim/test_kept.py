from samsa.shim.kept import MOST, Kept, KeptAnswers, answer_to


def a_request(correlation: int, body: bytes = b"body") -> bytes:
    return b"\0\1\0\x0c" + correlation.to_bytes(4, "big") + body


def kept(*watches: str, good_until: float = 10.0) -> Kept:
    return Kept(b"\0\0\0\1empty", 0.5, good_until, frozenset(watches))


def test_a_request_that_differs_only_in_its_number_is_the_same():
    answers = KeptAnswers()
    answers.keep(a_request(1), kept("p"))
    assert answers.find(a_request(2), 0) == kept("p")
    assert answers.find(a_request(2, b"another"), 0) is None


def test_the_answer_carries_the_number_of_the_request():
    assert answer_to(a_request(77), b"\0\0\0\1empty") == b"\0\0\0\x4dempty"


def test_a_wake_drops_what_it_concerns_and_nothing_else():
    answers = KeptAnswers()
    answers.keep(a_request(1, b"a"), kept("p", "q"))
    answers.keep(a_request(1, b"b"), kept("r"))
    answers.forget(["q"])
    assert answers.find(a_request(1, b"a"), 0) is None
    assert answers.find(a_request(1, b"b"), 0)


def test_an_old_answer_is_not_given():
    answers = KeptAnswers()
    answers.keep(a_request(1), kept("p", good_until=10))
    assert answers.find(a_request(1), 9.9)
    assert answers.find(a_request(1), 10) is None


def test_the_oldest_goes_when_there_are_too_many():
    answers = KeptAnswers()
    for number in range(MOST + 1):
        answers.keep(a_request(1, b"%d" % number), kept("p"))
    assert answers.find(a_request(1, b"0"), 0) is None
    assert all(answers.find(a_request(1, b"%d" % n), 0) for n in range(1, MOST + 1))


def test_all_is_forgotten_with_the_connection():
    answers = KeptAnswers()
    answers.keep(a_request(1), kept())
    answers.forget_all()
    assert answers.find(a_request(1), 0) is None
