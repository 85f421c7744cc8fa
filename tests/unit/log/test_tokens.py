from samsa.log.tokens import Token, covers


def test_a_token_survives_being_written_down():
    token = Token(3, 1_700_000_000_000, "a.nonce.with.dots")
    assert Token.parse(str(token)) == token


def test_a_token_covers_the_offsets_of_its_slot_and_no_others():
    token = str(Token(3, 0, "n"))
    assert [offset for offset in range(20) if covers(token, 10, offset)] == [10, 11, 12]
