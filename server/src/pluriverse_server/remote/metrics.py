"""A remote's Prometheus metrics. No label grows without bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.vnc_proxy.vnc_proxy import VncProxy

_LAG_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
_READ_BUCKETS = (0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
_RESET_BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

# States of readings (sources.reading): one that took too long, and those that don't count.
LATE: Final = "late"
REFUSED: Final = (LATE, "implausible", "unsure")


class Metrics:
    def __init__(self, ports: Mapping[str, HttpAuth | VncProxy]) -> None:
        """``ports``: those whose connections are counted, by name."""
        self.registry = CollectorRegistry()
        self.registry.register(_Ports(ports))
        r = self.registry
        self.frames = Counter("pluriverse_frames_total", "Frames that the program drew.", registry=r)
        self.late_frames = Counter("pluriverse_late_frames_total", "Frames dropped since they were late.", registry=r)
        self.episodes = Counter("pluriverse_episodes_total", "Episodes that ended.", ["outcome"], registry=r)
        self.deaths = Counter("pluriverse_deaths_total", "Parts of the remote that died.", ["part"], registry=r)
        self.actions = Counter("pluriverse_actions_total", "Actions of the agent that were carried out.", registry=r)
        self.reset_seconds = Histogram(
            "pluriverse_reset_seconds", "From resetting to running.", buckets=_RESET_BUCKETS, registry=r
        )
        self.reward_lag_seconds = Histogram(
            "pluriverse_reward_lag_seconds",
            "From the frame that earned a reward to its message.",
            buckets=_LAG_BUCKETS,
            registry=r,
        )
        self.connections = Gauge("pluriverse_connections", "Open connections.", ["role"], registry=r)
        self.tasks = Gauge("pluriverse_tasks", "Tasks of the daemon's event loop.", registry=r)
        self.running = Gauge("pluriverse_running", "1 while an environment runs, 0 while it resets.", registry=r)
        self.malformed_reports = Gauge(
            "pluriverse_malformed_reports", "Lines of the program's that were dropped.", registry=r
        )
        self.discarded_reports = Gauge(
            "pluriverse_discarded_reports",
            "Reports of the program's that belonged to no running episode, or would make its reward infinite.",
            registry=r,
        )
        self.merged_rewards = Gauge(
            "pluriverse_merged_rewards", "Rewards merged since their reader was slow.", registry=r
        )
        self.dropped_observations = Gauge(
            "pluriverse_dropped_observations", "Observations and texts dropped since their reader was slow.", registry=r
        )
        # An environment's sources are at most manifest.sources.MAX_SOURCES, and games call them alike.
        self.source_read_seconds = Histogram(
            "pluriverse_source_read_seconds",
            "How long reading a source took.",
            ["source"],
            buckets=_READ_BUCKETS,
            registry=r,
        )
        self.source_cycle_seconds = Histogram(
            "pluriverse_source_cycle_seconds",
            "How long reading all sources once took.",
            buckets=_READ_BUCKETS,
            registry=r,
        )
        self.source_late = Counter(
            "pluriverse_source_late_total", "Readings that took longer than their budget.", ["source"], registry=r
        )
        self.source_refused = Counter(
            "pluriverse_source_refused_total", "Readings that did not count.", ["state"], registry=r
        )

    def note_readings(self, readings: Mapping[str, Mapping[str, Any]], cycle_s: float) -> None:
        """Observe readings (``pluriverse_protocol.reports.Readings``), which took ``cycle_s`` together."""
        self.source_cycle_seconds.observe(cycle_s)
        for name, reading in readings.items():
            state, lag_ms = reading.get("state"), reading.get("lag_ms")
            if isinstance(lag_ms, (int, float)):
                self.source_read_seconds.labels(name).observe(lag_ms / 1000)
            if state == LATE:
                self.source_late.labels(name).inc()
            if state in REFUSED:
                self.source_refused.labels(state).inc()

    def render(self) -> bytes:
        return generate_latest(self.registry)


class _Ports(Collector):
    def __init__(self, ports: Mapping[str, HttpAuth | VncProxy]) -> None:
        self._ports = ports

    def collect(self) -> Iterator[Metric]:
        let_in = GaugeMetricFamily(
            "pluriverse_port_connections", "Open connections that have given the password.", labels=["port"]
        )
        dropped = CounterMetricFamily(
            "pluriverse_dropped_connections", "Connections that were dropped or turned away.", labels=["port"]
        )
        wrong = CounterMetricFamily("pluriverse_wrong_passwords", "Guesses of the password.", labels=["port"])
        for name, port in self._ports.items():
            let_in.add_metric([name], port.table.let_in)
            dropped.add_metric([name], port.table.dropped)
            wrong.add_metric([name], port.throttle.wrong)
        yield from (let_in, dropped, wrong)
