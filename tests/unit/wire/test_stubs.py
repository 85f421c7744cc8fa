"""What type checkers are told of the message tables is what the tables say."""

from samsa.wire import stubs


def test_stubs_are_as_the_tables_say():
    assert stubs.main(["--check"]) == 0


def test_wrong_missing_and_left_over_stubs_are_noticed_and_mended(tmp_path, capsys):
    stubs.main([], tmp_path)
    assert stubs.main(["--check"], tmp_path) == 0
    wrong = tmp_path / "heartbeat.pyi"
    wrong.write_text(wrong.read_text().replace("generation_id: int", "generation_id: str"))
    (tmp_path / "fetch.pyi").unlink()
    (tmp_path / "gone.pyi").write_text("")
    assert stubs.main(["--check"], tmp_path) == 1
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert told == ["fetch.pyi", "gone.pyi", "heartbeat.pyi"]
    stubs.main([], tmp_path)
    assert stubs.main(["--check"], tmp_path) == 0


def test_a_struct_that_has_the_name_of_another_is_called_the_responses():
    text = stubs.stubs()["describe_quorum.pyi"]
    assert "TOPIC: StructOf[TopicData]" in text
    assert "TOPIC_RESPONSE: StructOf[TopicDataResponse]" in text
