"""From a frame to an answer: which handler, at which version, and what if there is none."""

from samsa.wire.apis import APIS, ApiKey
from samsa.wire.errors import DecodeError
from samsa.wire.frame import Request, response_frame
from samsa.wire.schema import Segment

from . import (  # noqa: F401  (each registers itself)
    k00_produce,
    k01_fetch,
    k02_list_offsets,
    k03_metadata,
    k08_offset_commit,
    k09_offset_fetch,
    k10_find_coordinator,
    k11_join_group,
    k12_heartbeat,
    k13_leave_group,
    k14_sync_group,
    k15_describe_groups,
    k16_list_groups,
    k18_api_versions,
    k19_create_topics,
    k20_delete_topics,
    k21_delete_records,
    k22_init_producer_id,
    k23_offset_for_leader_epoch,
    k32_describe_configs,
    k33_alter_configs,
    k35_describe_log_dirs,
    k37_create_partitions,
    k42_delete_groups,
    k44_incremental_alter_configs,
    k47_offset_delete,
    k60_describe_cluster,
    k61_describe_producers,
    k68_consumer_group_heartbeat,
    k69_consumer_group_describe,
    k75_describe_topic_partitions,
)
from .broker import HANDLERS, Answer, Broker, Context


def version_of_answer(request: Request) -> int:
    """ApiVersions is answered at version 0 when the client asks for one that we do not know."""
    if request.api_version in APIS[request.api_key].versions:
        return request.api_version
    if request.api_key == ApiKey.API_VERSIONS:
        return 0
    raise DecodeError(f"{APIS[request.api_key].name} has no version {request.api_version} here")


async def answer(
    request: Request, address: tuple[str, int], broker: Broker, client_host: str = ""
) -> Answer:
    """A row, None, or Later. Raises DecodeError, on which the connection ends."""
    version = version_of_answer(request)
    context = Context(request.api_version, request.client_id, address, client_host)
    if version != request.api_version:
        return k18_api_versions.unsupported_version()
    # librdkafka 2.16 sends Metadata v13 with bytes too many; Apache Kafka does not mind either.
    row = APIS[request.api_key].request.decode(version, request.body, exact=False)
    return await HANDLERS[request.api_key](row, context, broker)


def encode(request: Request, row: Answer) -> list[Segment]:
    version = version_of_answer(request)
    segments = APIS[request.api_key].response.encode(version, row)
    return response_frame(request.api_key, version, request.correlation_id, segments)
