"""A scraped program in a whole remote, from the agent's end."""

from pathlib import Path

import pytest
from pluriverse_server.manifest.spaces import keysym
from pluriverse_server.remote import environment
from pluriverse_server.settings import DisplayBackend
from support.in_process import playing
from support.leftovers import Leftovers
from support.scraped import ENV, write_runtime
from support.waiting import eventually

pytestmark = pytest.mark.display


@pytest.mark.parametrize("backend", ["xvfb", "xvnc"])
async def test_agent_is_told_what_the_screen_says(tmp_path: Path, backend: DisplayBackend) -> None:
    leftovers = Leftovers()
    write_runtime(tmp_path)
    async with playing(tmp_path, display_backend=backend) as (remote, agent):
        await agent.hear_method("v0.env.describe", env_id=ENV, env_state="running")
        await agent.press(keysym("Right"))
        reward = await agent.hear_until(lambda m: m["method"] == "v0.env.reward" and m["body"]["reward"] != 0)
        assert reward["body"]["reward"] == pytest.approx(1)
        assert reward["headers"]["sent_at"] >= reward["body"]["frame_at"]
        await eventually(lambda: remote.status()["readings"]["score"]["value"] == pytest.approx(0.05))
        status = remote.status()
        assert status["readings"]["score"]["region"] == [0, 40, 200, 10]
        assert [given["at"] for given in status["rewards"]] == [reward["body"]["frame_at"]]
        await agent.press(keysym("x"))
        done = await agent.hear_method("v0.env.reward", done=True)
        assert (done["body"]["terminated"], done["body"]["info"]["reason"]) == (True, "lost")
        await agent.hear_method("v0.env.describe", env_id=ENV, env_state="running")
    leftovers.assert_none()


async def test_agent_gets_what_the_end_gives_at_the_time_limit_too(tmp_path: Path) -> None:
    write_runtime(tmp_path, rewards=[{"source": "playing", "give": "end"}], time_limit={"seconds": 0.2})
    async with playing(tmp_path) as (_, agent):
        done = await agent.hear_until(lambda m: m["method"] == "v0.env.reward" and m["body"]["reward"] == 1)
        assert (done["body"]["terminated"], done["body"]["truncated"]) == (False, True)
        assert done["body"]["info"]["reason"] == "time limit"


async def test_program_without_sources_or_rewards_is_drawn_and_earns_nothing(tmp_path: Path) -> None:
    write_runtime(tmp_path)
    start, _, rest = (tmp_path / "runtime.toml").read_text().partition("[reset]")
    (tmp_path / "runtime.toml").write_text(start + "[[envs]]" + rest.partition("[[envs]]")[2])
    async with playing(tmp_path) as (remote, agent):
        assert await agent.hear_method("v0.env.describe", env_id=ENV, env_state="running")
        assert remote.status()["rewarded"] is False
        await agent.press(keysym("q"))
        done = await agent.hear_method("v0.env.reward", done=True)
        assert (done["body"]["reward"], done["body"]["truncated"]) == (0, True)


@pytest.mark.parametrize(("fixed", "said"), [(True, "exact"), (False, "frozen")])
async def test_lockstep_that_needs_the_same_addresses_is_exact_only_where_there_are_such(
    fixed: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "can_fix_addresses", lambda: fixed)
    write_runtime(tmp_path, program={"clock": ["realtime", "lockstep"], "same_addresses": True})
    async with playing(tmp_path) as (_, agent):
        assert (await agent.hear_method("v0.env.describe"))["body"]["lockstep"] == said
