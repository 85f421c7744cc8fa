"""The fixtures as pytest finds them: every test here plays a run of pytest of its own."""

import re
import sys
from pathlib import Path
from textwrap import indent

import pytest
from unit.docs.pages import ROOT, code

import samsa_broker.testing.thread_host  # noqa: F401  # so that it stays imported from one run to the next
from samsa_broker.testing import Faults, SamsaBroker
from samsa_broker.testing.clients import LIBRARIES

pytest_plugins = ["pytester"]
PAGE = ROOT / "docs" / "testing.md"
MODES = ("thread", "process")
PASSES = """
def test_it(samsa_broker):
    samsa_broker.produce("orders", "one")
    assert [each.offset for each in samsa_broker.records("orders")] == [0]
"""


def documented() -> list[str]:
    tests = [block for block in code(PAGE, "python") if "def test_" in block]
    assert len(tests) == 3
    return tests


def ini(project: pytest.Pytester, **settings: str) -> None:
    settings["asyncio_default_fixture_loop_scope"] = "function"  # it warns without it
    lines = [f"{name} = {value}" for name, value in settings.items()]
    project.makeini("\n".join(["[pytest]", *lines]))


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project elsewhere, without the settings of this one."""
    ini(pytester)
    return pytester


@pytest.mark.parametrize("mode", MODES)
def test_the_documented_tests_pass_as_they_are_written(project: pytest.Pytester, mode: str):
    ini(project, samsa_mode=mode)
    project.makepyfile(**{f"test_{n}": block for n, block in enumerate(documented())})
    project.runpytest_inprocess("-q").assert_outcomes(passed=3)


def test_the_documented_tests_pass_in_two_workers_at_once(project: pytest.Pytester):
    project.makepyfile(**{f"test_{n}": block for n, block in enumerate(documented())})
    project.runpytest_subprocess("-q", "-n", "2").assert_outcomes(passed=3)


def test_the_documented_program_without_pytest_runs(pytester: pytest.Pytester):
    (block,) = [block for block in code(PAGE, "python") if "with a_broker" in block]
    done = pytester.run(sys.executable, "-c", block)
    assert done.ret == 0
    done.stdout.fnmatch_lines(["127.0.0.1:* *value=b'7 apples'*"])


def test_each_test_has_a_fresh_broker_and_the_session_has_one(project: pytest.Pytester):
    project.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(3))
        def test_fresh(samsa_broker, samsa_session_broker, number):
            assert samsa_broker.topics() == {}
            assert samsa_broker.produce("orders", "one")[0].offset == 0
            assert samsa_session_broker.produce("orders", "one")[0].offset == number
        """
    )
    project.runpytest_inprocess("-q").assert_outcomes(passed=3)


CLIENTS = {
    "confluent-kafka": """
producer.produce("orders", b"one")
producer.flush()
assert type(producer).__module__ == "cimpl"
assert consumer.poll(10).value() == b"one"
""",
    "kafka-python": """
producer.send("orders", b"one")
producer.flush()
assert type(producer).__module__.startswith("kafka.")
assert next(consumer).value == b"one"
""",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_of_each_library_are_made_and_closed(project: pytest.Pytester, client: str):
    ini(project, samsa_client=client)
    body = indent(CLIENTS[client], "    ")
    project.makepyfile(
        f"""
def test_it(samsa_broker, samsa_producer, samsa_consumer):
    samsa_broker.create_topic("orders")
    producer, consumer = samsa_producer(linger_ms=0), samsa_consumer("orders")
{body}
"""
    )
    project.runpytest_inprocess("-q").assert_outcomes(passed=1)


def test_a_library_that_is_not_installed_is_named(project: pytest.Pytester):
    """An import system without any of them."""
    project.makepyfile(
        """
        import importlib.util
        from samsa_broker.testing import SamsaError, clients
        import pytest

        def test_it(samsa_producer, samsa_consumer, monkeypatch):
            monkeypatch.setattr(clients, "find_spec", lambda name: None)
            with pytest.raises(SamsaError, match="pip install confluent-kafka or kafka-python"):
                samsa_producer()
            with pytest.raises(SamsaError, match="pip install aiokafka"):
                samsa_consumer("orders", client="aiokafka")
            with pytest.raises(SamsaError, match="there are: confluent-kafka, kafka-python"):
                samsa_producer(client="pykafka")
        """
    )
    project.runpytest_inprocess("-q").assert_outcomes(passed=1)


def test_a_project_overrides_the_settings_of_its_brokers(project: pytest.Pytester):
    (settings,) = [block for block in code(PAGE, "python") if "samsa_settings" in block]
    project.makeconftest(settings)
    project.makepyfile(
        """
        import pytest
        from samsa_broker.testing import SamsaError, a_broker

        def test_it(samsa_broker):
            with pytest.raises(SamsaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
                samsa_broker.produce("orders", "one")
            with pytest.raises(SamsaError, match="there are: auto_create_topics, default_"):
                with a_broker(replicas=3):
                    pass
        """
    )
    project.runpytest_inprocess("-q").assert_outcomes(passed=1)


def test_a_wrong_mode_is_one_line_that_names_the_setting(project: pytest.Pytester):
    ini(project, samsa_mode="docker")
    project.makepyfile(PASSES)
    done = project.runpytest_inprocess("-q")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*samsa_mode: there is no mode 'docker'; there are: thread, *"])


def test_a_run_that_uses_none_of_the_fixtures_imports_nothing_else(project: pytest.Pytester):
    """Neither the broker, nor what it needs."""
    project.makepyfile(
        """
        import sys

        def test_it():
            ours = {name for name in sys.modules if name.partition(".")[0].startswith("samsa")}
            assert ours == {"samsa_broker", "samsa_broker.testing", "samsa_broker.testing.plugin"}
        """
    )
    project.runpytest_subprocess("-q", "-p", "no:asyncio").assert_outcomes(passed=1)


def test_a_failing_test_that_leaves_its_clients_open_does_not_disturb_the_next(
    project: pytest.Pytester,
):
    project.makepyfile(
        """
        import threading
        from confluent_kafka import Producer
        kept = []

        def test_first(samsa_broker):
            kept.append(Producer(
                {"bootstrap.servers": samsa_broker.bootstrap_servers, "log_level": 0}
            ))
            kept[0].produce("orders", b"one")
            kept[0].flush()
            samsa_broker.faults.delay("Fetch", 60)
            assert False

        def test_second(samsa_broker):
            assert samsa_broker.topics() == {}
        """
    )
    project.runpytest_inprocess("-q").assert_outcomes(passed=1, failed=1)


def test_a_keyboard_interrupt_leaves_no_process_behind(project: pytest.Pytester):
    ini(project, samsa_mode="process")
    project.makepyfile(
        """
        import pathlib
        def test_it(samsa_broker, _samsa_host):
            pathlib.Path("pid").write_text(str(_samsa_host._process.pid))
            raise KeyboardInterrupt
        """
    )
    project.runpytest_subprocess("-q")
    pid = (project.path / "pid").read_text()
    assert not Path(f"/proc/{pid}").exists()


def test_the_page_names_every_setting_and_method_there_is():
    page = PAGE.read_text("utf-8")
    shared = {"call", "close"}
    for kind in (SamsaBroker, Faults):
        for name in vars(kind):
            if not name.startswith("_") and name not in shared:
                assert re.search(rf"`[^`]*\b{name}\b[^`]*`", page), name
    assert all(f"`{name}`" in page for name in (*LIBRARIES, *MODES))
