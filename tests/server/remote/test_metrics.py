import re

from pluriverse_server.access.secrets import Secrets
from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.remote.metrics import Metrics
from prometheus_client.parser import text_string_to_metric_families


def test_all_metrics_have_our_prefix_and_say_what_they_are() -> None:
    found = list(text_string_to_metric_families(Metrics({}).render().decode()))
    assert len(found) >= 10
    for family in found:
        assert re.fullmatch(r"pluriverse_[a-z_]+", family.name), family.name
        assert family.documentation.endswith(".")
        if family.type == "histogram":
            assert family.name.endswith("_seconds")


def test_readings_are_timed_by_source_and_counted_where_they_do_not_count() -> None:
    metrics = Metrics({})
    metrics.note_readings(
        {
            "score": {"state": "ok", "lag_ms": 0.1},
            "lives": {"state": "late", "lag_ms": 80.0},
            "level": {"state": "implausible", "lag_ms": 0.1},
            "odd": {"state": ["?"], "lag_ms": "soon"},
        },
        0.002,
    )
    text = metrics.render().decode()
    assert 'pluriverse_source_read_seconds_bucket{le="0.0001",source="score"} 1.0' in text
    assert 'pluriverse_source_late_total{source="lives"} 1.0' in text
    assert 'pluriverse_source_refused_total{state="implausible"} 1.0' in text
    assert "pluriverse_source_cycle_seconds_sum 0.002" in text
    assert "odd" not in text


def test_ports_are_counted_apart_when_metrics_are_asked_for() -> None:
    http_auth, other = (HttpAuth(Secrets("secret"), lambda _: False) for _ in range(2))
    metrics = Metrics({"rewarder": http_auth, "vnc": other})
    http_auth.throttle.judged("a", right=False, now=0.0)
    http_auth.table.dropped = 7
    text = metrics.render().decode()
    assert 'pluriverse_wrong_passwords_total{port="rewarder"} 1.0' in text
    assert 'pluriverse_wrong_passwords_total{port="vnc"} 0.0' in text
    assert 'pluriverse_dropped_connections_total{port="rewarder"} 7.0' in text
    assert 'pluriverse_port_connections{port="rewarder"} 0.0' in text
