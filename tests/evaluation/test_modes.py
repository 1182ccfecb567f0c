import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse.errors import ConfigurationError
from pluriverse_eval.modes import MAX_DELAY_MS, Mode, parse_modes


def test_modes_say_whether_the_environment_waits_and_how_late_the_agent_acts() -> None:
    assert parse_modes("paused,live,live+200,paused+50") == (
        Mode("paused", True, 0),
        Mode("live", False, 0),
        Mode("live+200", False, 200),
        Mode("paused+50", True, 50),
    )
    assert [mode.clock for mode in parse_modes("paused,live+1")] == ["lockstep", "realtime"]


@pytest.mark.parametrize("text", ["", "fast", "live,", "live+", "live+-1", "live+1.5", "live+200ms", "paused,paused"])
def test_what_is_no_mode_is_refused_in_its_own_words(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--modes: "):
        parse_modes(text)


@given(st.integers(0, 10 * MAX_DELAY_MS))
def test_delays_have_a_limit(delay_ms: int) -> None:
    if delay_ms <= MAX_DELAY_MS:
        assert parse_modes(f"live+{delay_ms}")[0].delay_ms == delay_ms
    else:
        with pytest.raises(ConfigurationError, match="up to 60000"):
            parse_modes(f"live+{delay_ms}")
