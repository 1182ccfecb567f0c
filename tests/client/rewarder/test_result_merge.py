from typing import Any

from pluriverse.rewarder.result import MAX_INFO_KEYS, merge_info, reported


def merged(*infos: dict[str, Any]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for info in infos:
        merge_info(total, info)
    return total


def test_stats_are_added_up() -> None:
    assert merged({"stats.a": 1}, {"stats.a": 2.5}) == {"stats.a": 3.5}


def test_stats_that_are_no_numbers_are_replaced() -> None:
    assert merged({"stats.a": 1}, {"stats.a": "many"}, {"stats.a": True}) == {"stats.a": True}


def test_keys_without_end_are_not_kept() -> None:
    total = merged({"known": 0}, {str(key): key for key in range(2 * MAX_INFO_KEYS)}, {"known": 1})
    assert len(total) == MAX_INFO_KEYS
    assert total["known"] == 1


def test_remote_cannot_say_what_the_client_says() -> None:
    own: dict[str, Any] = {
        "error": "it broke",
        "n": [],
        "truncated": True,
        "env_status.disconnected": True,
        "mask.masked.action": True,
        "stats.reward.count": 7,
        "stats.vnc.updates.n": 7,
        "stats.gauges.diagnostics.lag.reward": (0.0, 0.0),
        "reward_buffer.remote_time": 0.0,
    }
    its: dict[str, Any] = {"lives": 3, "reason": "won", "stats.jumps": 1, "stats.gauges.speed": 2, "rewarder.frames": 7}
    assert reported({**own, **its}) == its
    assert reported(its) is its
