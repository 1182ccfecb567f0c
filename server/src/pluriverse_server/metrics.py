"""What a remote counts and times, for Prometheus. No label grows without bound."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

# From a reward in the same frame to one that is plainly late.
_LAG_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
_RESET_BUCKETS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """One remote's metrics, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
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
        self.running = Gauge("pluriverse_running", "1 while an environment runs, 0 while it resets.", registry=r)
        self.malformed_reports = Gauge(
            "pluriverse_malformed_reports", "Lines of the program's that were dropped.", registry=r
        )

        self.discarded_reports = Gauge(
            "pluriverse_discarded_reports", "Reports of the program's that belonged to no running episode.", registry=r
        )
        self.merged_rewards = Gauge(
            "pluriverse_merged_rewards", "Rewards merged since their reader was slow.", registry=r
        )
        self.dropped_observations = Gauge(
            "pluriverse_dropped_observations", "Observations and texts dropped since their reader was slow.", registry=r
        )

    def render(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self.registry)
