"""What the bill takes for granted is what the code and the template say."""

from support.template import read_template
from unit.cost.given import SHIPPED

from samsa.log import janitor, read, watch
from samsa.log.stores import Limits
from samsa.ports.windows import WINDOW_BYTES
from samsa.runtime import upkeep
from samsa.topics import catalog
from samsa_broker.cost import acts, of_functions, of_processes
from samsa_websocket.gateway.settings import GatewaySettings as GatewaySettings
from samsa_websocket.pushes import pushing
from samsa_websocket.shim import produce_batching as together
from samsa_websocket.shim.settings import ShimTimes

TEMPLATE = read_template()


def assumed(name: str) -> float:
    return SHIPPED.number("assumed", name)


def of_type(kind: str) -> list[dict]:
    return [each for each in TEMPLATE["Resources"].values() if each["Type"] == kind]


def test_the_template_has_the_memory_the_alarms_and_the_schedule_that_are_paid_for():
    assert TEMPLATE["Parameters"]["MemoryMb"]["Default"] == assumed("function_memory_gb") * 1024
    function = TEMPLATE["Resources"]["JanitorFunction"]["Properties"]
    assert function["MemorySize"] == assumed("janitor_memory_gb") * 1024
    assert len(of_type("AWS::CloudWatch::Alarm")) == assumed("alarms")
    assert TEMPLATE["Parameters"]["RecoveryDays"]["Default"] == assumed("recovery_days")
    minutes = 60 / assumed("janitor_rounds_per_hour")
    assert TEMPLATE["Parameters"]["JanitorSchedule"]["Default"] == f"rate({minutes:.0f} minutes)"


def test_the_functions_work_by_the_numbers_that_are_counted_with():
    assert GatewaySettings.__dataclass_fields__["good_ms"].default == of_functions.GOOD_S * 1000
    assert ShimTimes().life == of_functions.LIFE_S
    assert pushing.MOST_NEWS == of_functions.MOST_NEWS
    assert together.LARGEST_UPLOAD == of_functions.LARGEST_UPLOAD


def test_the_processes_do_too():
    assert of_processes.WATCHED_FOR_S * 1000 == watch.RENEW_MS
    assert of_processes.TOPIC_FOR_S * 1000 == catalog.REMEMBER_MS
    assert of_processes.MOST_IN_AN_OBJECT == WINDOW_BYTES
    assert of_processes.SWEPT_EVERY_S * 1000 == janitor.WINDOWS_EVERY_MS


def test_the_janitor_does_as_well():
    assert read.PAGE == acts.EXTENTS_LOOKED_AT
    assert Limits().segment_bytes == acts.SEGMENT_BYTES
    assert 2 * upkeep.SHARE == acts.SEGMENTS_IN_TIME
    between_s = 3600 / assumed("janitor_rounds_per_hour")
    assert Limits().merge_after_ms / 1000 + between_s == acts.UNMERGED_S
