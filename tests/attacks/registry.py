"""Every attack, a line each. A new one is a function that plays it once, and a line here."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from attacks import budget, connections, frames, groups, kafka, logins, records, schemas, upkeep
from attacks.connections import HTTP, WITH_METRICS
from server.process import Samsa

Play = Callable[[Samsa], None]


class Attack(NamedTuple):
    play: Play
    times: int = 2
    options: tuple[str, ...] | Callable[[Path], tuple[str, ...]] = ()
    """Of `samsa up`, or what makes them, and their files in a folder."""

    def options_in(self, folder: Path) -> tuple[str, ...]:
        return self.options if isinstance(self.options, tuple) else self.options(folder)


ATTACKS = (
    Attack(frames.connections_that_send_noise),
    Attack(frames.frames_of_impossible_sizes),
    Attack(groups.a_group_of_giants),
    Attack(groups.ids_that_nobody_uses, 1),
    Attack(groups.assignments_larger_than_an_item),
    Attack(groups.subscriptions_without_end),
    Attack(records.fetches_of_old_clients_from_packed_records),
    Attack(records.fetches_of_old_clients_from_many_small_records),
    Attack(records.messages_of_old_clients_in_a_wrapper),
    Attack(records.records_without_keys_for_a_compacted_topic),
    Attack(records.batches_that_unpack_to_much),
    Attack(records.batches_that_end_in_noise),
    Attack(records.times_looked_up_in_packed_records),
    Attack(upkeep.batches_that_lie_in_a_compacted_topic),
    Attack(upkeep.topics_that_ask_for_upkeep_every_second),
    Attack(kafka.forged_wakeups),
    Attack(kafka.lists_of_what_is_not_there),
    Attack(budget.metadata_for_131_000_empty_names),
    Attack(budget.metadata_for_four_megabytes_of_short_names),
    Attack(budget.metadata_for_four_megabytes_of_long_names),
    Attack(budget.descriptions_of_very_many_groups),
    Attack(budget.long_arrays_of_all_kinds, 1),
    Attack(budget.a_million_tagged_fields),
    Attack(budget.dotted_names_beside_thousands_of_topics, 1),
    Attack(budget.descriptions_of_a_hundred_thousand_partitions, 1),
    Attack(budget.topics_without_end, 1, ("--max-topics", "1000")),
    Attack(budget.patterns_over_thousands_of_topics, 1),
    Attack(budget.groups_without_end, 1, ("--max-groups", "500")),
    Attack(connections.clients_that_announce_much_and_send_little),
    Attack(connections.large_requests_that_stop_half_way),
    Attack(connections.clients_that_do_not_read_their_answers),
    Attack(connections.a_crowd_of_one_address),
    Attack(connections.delete_records_without_time),
    Attack(connections.idle_http_connections, options=HTTP),
    Attack(connections.http_heads_that_never_end, options=HTTP),
    Attack(connections.http_bodies_that_never_end, options=HTTP),
    Attack(schemas.schemas_of_a_megabyte, 1, HTTP),
    Attack(schemas.a_topic_of_schemas_that_are_none, 1, HTTP),
    Attack(connections.an_http_body_of_a_million_records, options=HTTP),
    Attack(connections.http_bodies_of_as_many_records_as_may_be, options=HTTP),
    Attack(connections.idle_connections_to_the_metrics_port, options=WITH_METRICS),
    Attack(logins.downgrades, options=logins.secured),
    Attack(logins.hostile_certificates, options=logins.secured),
    Attack(logins.handshakes_that_trickle, options=logins.secured),
    Attack(logins.tls_clients_that_never_read, options=logins.secured),
    Attack(logins.every_api_before_a_login, options=logins.secured),
    Attack(logins.a_thousand_logins, options=logins.secured),
    Attack(logins.logins_that_are_replayed, options=logins.secured),
    Attack(logins.huge_tokens, options=logins.secured),
    Attack(logins.forged_tokens, options=logins.secured),
)
