import pytest
from pluriverse_protocol.rfb.errors import LimitExceeded
from pluriverse_protocol.rfb.messages import fence, framebuffer_update_request, key_event, set_encodings
from pluriverse_server.vnc_proxy.share import PerSecond, Share

MESSAGES = {
    PerSecond.INPUT: key_event(65, True),
    PerSecond.CHANGES: framebuffer_update_request(0, 0, 1, 1, incremental=True),
    PerSecond.PICTURES: framebuffer_update_request(0, 0, 1, 1, incremental=False),
    PerSecond.SETTINGS: set_encodings([0]),
}


@pytest.mark.parametrize("kind", PerSecond)
def test_one_who_keeps_to_its_share_never_waits(kind: PerSecond) -> None:
    share = Share(0.0)
    for number in range(20 * kind):
        assert share.take(MESSAGES[kind], number / kind, 1.0) == 0


@pytest.mark.parametrize("kind", PerSecond)
def test_one_that_takes_more_at_once_waits_and_goes_on(kind: PerSecond) -> None:
    share = Share(0.0)
    assert [share.take(MESSAGES[kind], 0.0, 1.0) for _ in range(kind)] == [0.0] * kind
    wait_s = share.take(MESSAGES[kind], 0.0, 1.0)
    assert 0 < wait_s < 1
    assert share.take(MESSAGES[kind], wait_s, 1.0) == 0


@pytest.mark.parametrize("kind", PerSecond)
def test_one_that_goes_on_all_the_same_is_hung_up_on_when_patience_ends(kind: PerSecond) -> None:
    share, now = Share(0.0), 0.0

    def flood(until_s: float) -> None:
        nonlocal now
        while now < until_s:
            now += share.take(MESSAGES[kind], now, 3.0)

    flood(2.9)
    with pytest.raises(LimitExceeded, match=f"more than {kind:d} {kind.name.lower()} a second for 3 s"):
        flood(4.0)


def test_one_kind_leaves_the_others_their_share() -> None:
    share = Share(0.0)
    for _ in range(PerSecond.SETTINGS + 1):
        share.take(MESSAGES[PerSecond.SETTINGS], 0.0, 1.0)
    assert share.take(MESSAGES[PerSecond.INPUT], 0.0, 1.0) == 0
    assert share.take(fence(0, b""), 0.0, 1.0) == 0
