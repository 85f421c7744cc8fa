"""Prometheus metrics, read from the server's plain counters when they are scraped."""

from collections import Counter
from collections.abc import Iterator, Sequence
from errno import EADDRINUSE
from typing import Any

from samsa.http_api import http_stats
from samsa.runtime.opening import disks_of
from samsa.runtime.upkeep import figures
from samsa.wire.apis import APIS, ApiKey

from .handshakes import Handshakes
from .http_entry import HttpAddress, HttpEntry
from .listener import Server
from .metrics_http import MetricsServer, Rendered


def calls_per_request(server: Server) -> dict[str, Any]:
    """Store calls, in all and for each produce and fetch: what a request costs on AWS."""
    stores = server.broker.stores
    ledger, objects = stores.ledger.calls, stores.objects.calls
    journal = stores.journal.calls
    requests = server.stats.requests
    produces, fetches = requests[ApiKey.PRODUCE], requests[ApiKey.FETCH]
    writes = journal["commit"] + journal["again"] + ledger["index"]
    reads = sum(ledger[name] for name in ("head", "extents"))
    return {
        "produces": produces,
        "fetches": fetches,
        "puts_per_produce": _ratio(objects["put"] + journal["pack"], produces),
        "ledger_writes_per_produce": _ratio(writes, produces),
        "gets_per_fetch": _ratio(objects["get"], fetches),
        "ledger_reads_per_fetch": _ratio(reads, fetches),
        "lists": objects["list"],
    }


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


class Collector:
    def __init__(self, server: Server, http: Handshakes) -> None:
        self._server = server
        self._handshakes = (server.handshakes, http)

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        stats, stores = self._server.stats, self._server.broker.stores
        yield GaugeMetricFamily(
            "samsa_connections", "Open connections.", len(self._server.connections)
        )
        by_listener = GaugeMetricFamily(
            "samsa_listener_connections", "Open connections by listener.", labels=["listener"]
        )
        open_ones = Counter(each.listener.name for each in list(self._server.connections))
        for name in dict.fromkeys(self._server.names):
            by_listener.add_metric([name], open_ones[name])
        yield by_listener
        yield CounterMetricFamily("samsa_connections_accepted", "Accepted.", stats.accepted)
        yield CounterMetricFamily("samsa_connections_refused", "Over the limit.", stats.refused)
        yield CounterMetricFamily("samsa_received_bytes", "Bytes from clients.", stats.bytes_in)
        yield CounterMetricFamily("samsa_sent_bytes", "Bytes to clients.", stats.bytes_out)
        yield GaugeMetricFamily(
            "samsa_request_memory_free_bytes", "Memory for requests.", self._server.memory.left
        )
        let_go = CounterMetricFamily(
            "samsa_connections_let_go", "Connections closed by the broker.", labels=["why"]
        )
        for why, count in list(stats.let_go.items()):
            let_go.add_metric([why], count)
        yield let_go
        by_http = CounterMetricFamily(
            "samsa_http_connections_let_go", "HTTP connections closed.", labels=["why"]
        )
        for why, count in list(http_stats.let_go.items()):
            by_http.add_metric([why], count)
        yield by_http
        requests = CounterMetricFamily("samsa_requests", "Requests.", labels=["api"])
        for key, count in list(stats.requests.items()):
            requests.add_metric([APIS[key].name], count)
        yield requests
        refusals = self._server.broker.group_refusals
        yield CounterMetricFamily("samsa_group_refusals", "Groups that were full.", refusals)
        yield from _security(self._server, self._handshakes)
        yield from _quotas(self._server)
        yield from _transactions(self._server)
        yield from _cluster(self._server)
        yield from _disks(self._server)
        refused = CounterMetricFamily(
            "samsa_refused", "Requests, or parts of them, over a limit.", labels=["limit"]
        )
        for limit, count in self._server.broker.refused.items():
            refused.add_metric([limit], count)
        yield refused
        yield from _logs(self._server)
        yield from _failures(self._server)
        calls = CounterMetricFamily("samsa_store_calls", "Store calls.", labels=["store", "call"])
        counted = {
            "ledger": stores.ledger.calls,
            "objects": stores.objects.calls,
            "journal": stores.journal.calls,
        }
        for store, counts in counted.items():
            for name, count in list(counts.items()):
                calls.add_metric([store, name], count)
        yield calls


LOG_GAUGES = {
    "objects": "Objects that the logs are in, as of the last count.",
    "bytes": "Bytes of the logs, as of the last count.",
    "small_ratio": "How many of the objects are smaller than 1 MiB.",
    "head_bytes": "What the heaviest head weighs that this process has seen lately.",
}
LOG_COUNTERS = {
    "merged_extents": "Extents that merging has made fewer.",
    "copied_bytes": "Bytes that merging has copied.",
    "reclaimed_bytes": "Bytes that retention, deletion and compaction took out of the logs.",
    "swept_objects": "Objects that were deleted after a merge.",
    "orphans": "Objects that were found without anything that leads to them.",
}


def _logs(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    found = figures(server.broker)
    for name, what in LOG_GAUGES.items():
        yield GaugeMetricFamily(f"samsa_log_{name}", what, found[name])
    for name, what in LOG_COUNTERS.items():
        yield CounterMetricFamily(f"samsa_log_{name}", what, found[name])


def _transactions(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    opened, oldest_ms, aborted = server.broker.transaction_figures
    yield GaugeMetricFamily(
        "samsa_transactions_open", "Open transactions that this process served last.", opened
    )
    yield GaugeMetricFamily(
        "samsa_transactions_oldest_seconds", "How long the oldest is open.", oldest_ms / 1000
    )
    yield CounterMetricFamily(
        "samsa_transactions_timed_out", "Aborted here because their time was up.", aborted
    )
    held_back = max(server.broker.log.reader.held_back.values(), default=0)
    yield GaugeMetricFamily(
        "samsa_transactions_held_back_offsets",
        "Most offsets between a last stable offset and the end, as readers saw it.",
        held_back,
    )


def _security(server: Server, handshakes: Sequence[Handshakes]) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    under_way = sum(len(each) for each in handshakes)
    yield GaugeMetricFamily("samsa_tls_handshakes", "Under way.", under_way)
    failed = sum(each.failed for each in handshakes)
    yield CounterMetricFamily("samsa_tls_handshakes_failed", "Failed.", failed)
    if server.security is None:
        return
    audit = server.security.audit
    yield CounterMetricFamily("samsa_logins", "Clients that said who they are.", audit.logins)
    yield CounterMetricFamily("samsa_logins_refused", "Refused.", audit.refused_logins)
    yield CounterMetricFamily(
        "samsa_operations_refused", "Refused by ACLs.", audit.refused_operations
    )


def _quotas(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    stats, throttling = server.stats, server.broker.throttling
    told = CounterMetricFamily(
        "samsa_throttled", "Requests and connections that had to wait.", labels=["quota"]
    )
    seconds = CounterMetricFamily(
        "samsa_throttled_seconds", "How long they had to wait, together.", labels=["quota"]
    )
    for key, count in list(stats.throttled.items()):
        told.add_metric([key], count)
        seconds.add_metric([key], stats.throttled_ms[key] / 1000)
    yield told
    yield seconds
    yield GaugeMetricFamily("samsa_muted_connections", "Over a quota now.", len(server.muted))
    yield GaugeMetricFamily(
        "samsa_quota_rates",
        "Users, client ids and addresses whose rates are kept.",
        0 if throttling is None else len(throttling),
    )


def _cluster(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    nodes = len(server.broker.nodes.ids)
    yield GaugeMetricFamily("samsa_nodes", "Processes that clients are told of.", nodes)
    failures = server.announcer.failures if server.announcer is not None else 0
    yield CounterMetricFamily(
        "samsa_announcement_failures", "Looks at the cluster that failed.", failures
    )


def _disks(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    disks = disks_of(server.broker.stores)
    failing = GaugeMetricFamily(
        "samsa_disk_failing", "1 while it takes no appends.", labels=["folder", "why"]
    )
    refused = CounterMetricFamily(
        "samsa_disk_failures", "Writes that a disk refused.", labels=["folder"]
    )
    for disk in disks:
        failing.add_metric([disk.folder, disk.trouble or ""], disk.trouble is not None)
        refused.add_metric([disk.folder], disk.failures)
    yield failing
    yield refused


def _failures(server: Server) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily

    failures = server.broker.log.janitor.failures
    for name, what, counts in (
        ("failures", "Steps of upkeep that failed.", failures.failed),
        ("put_off", "Steps of upkeep that a store had no answer for.", failures.put_off),
    ):
        family = CounterMetricFamily(f"samsa_upkeep_{name}", what, labels=["step"])
        for kind, count in list(counts.items()):
            family.add_metric([kind], count)
        yield family


async def serve_metrics(
    server: Server, address: HttpAddress, entry: HttpEntry
) -> tuple[MetricsServer, HttpAddress]:
    """The metrics server, and where it listens. Raises OSError."""
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import choose_encoder

    registry = CollectorRegistry()
    registry.register(Collector(server, entry.handshakes))

    def render(accepted: str) -> Rendered:
        encode, kind = choose_encoder(accepted)
        return kind, encode(registry)

    http = MetricsServer(render, entry.login(address, "metrics"))
    listen_tls = entry.listen_tls if address.has_tls else None
    if listen_tls is not None:
        entry.prepare_tls()
    host, port, _ = address
    try:
        return http, address._replace(port=await http.open(host, port, listen_tls))
    except OSError as error:
        why = "is taken" if error.errno == EADDRINUSE else f"cannot be used: {error.strerror}"
        raise OSError(error.errno, f"metrics port {port} on {host} {why}") from error
