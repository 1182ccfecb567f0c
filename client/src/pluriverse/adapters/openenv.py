"""OpenEnv's client of environments that ``pluriverse openenv`` serves; it needs the extra openenv.

>>> from pluriverse.adapters.openenv import PluriverseAction, PluriverseEnv
>>> with PluriverseEnv(base_url="http://token:TOKEN@localhost:8000").sync() as env:
...     result = env.reset(seed=1)
...     result = env.step(PluriverseAction(action=2))
...     picture = result.observation.pixels()
"""

from __future__ import annotations

import base64
import io
import os
import re
from typing import Any, Literal, Self
from urllib.parse import urlsplit

import numpy as np
from openenv.core import EnvClient  # pyright: ignore[reportMissingTypeStubs]
from openenv.core.client_types import StepResult  # pyright: ignore[reportMissingTypeStubs]
from openenv.core.env_server.types import Action, Observation, State  # pyright: ignore[reportMissingTypeStubs]
from PIL import Image
from pluriverse_protocol.limits import MAX_EVENTS_PER_ACTION
from pydantic import Field

from pluriverse.rfb.picture import Pixels


class PluriverseAction(Action):
    """One action: ``action`` in the environment's own space, or ``computer`` in that of computer use; neither waits.

    ``action``: an integer where actions are discrete, a list of 0 and 1 for each key, an object of pointer, buttons and
    keys, or a list of events. ``computer``: a call as MCP's clients make it, such as ``{"name": "click",
    "arguments": {"x": 40, "y": 90}}``. ``frames``: how many frames an action of the first kind is held.
    ``marks``: draw a numbered box around each interactive element; ``tree``: add the tree of the screen.
    """

    action: int | list[Any] | dict[str, Any] | None = Field(default=None)
    computer: dict[str, Any] | None = Field(default=None)
    frames: int = Field(default=1, ge=1, le=MAX_EVENTS_PER_ACTION)
    marks: bool = False
    tree: bool = False


class PluriverseObservation(Observation):
    """A picture of the environment, compressed, and its latest text."""

    image: str = Field(default="", description="the picture as a file in base64; empty where only text was asked for")
    media_type: Literal["image/png", "image/jpeg"] = "image/png"
    width: int = Field(default=0, description="of the whole picture, in whose pixels coordinates are")
    height: int = 0
    text: str = ""
    message: str = Field(default="", description="which keys of the action the environment ignored")
    tree: str = Field(default="", description="what is on the screen, where it was asked for; [n] before a mark")

    def pixels(self) -> Pixels:
        """Return the picture, uint8 (height, width, 3), RGB."""
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(self.image))).convert("RGB"))


class PluriverseState(State):
    """The episode under way: ``episode_id``, ``step_count``, and these."""

    environment: str = ""
    frames: int = 0
    total_reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    lags_ms: dict[str, tuple[float, float]] = Field(default={})


class PluriverseEnv(EnvClient[PluriverseAction, PluriverseObservation, PluriverseState]):
    """A session of one environment; see ``openenv.core.EnvClient``.

    The token is that of the URL, as ``http://token:TOKEN@HOST:PORT``, or else of ``$PLURIVERSE_TOKEN``.
    """

    def __init__(self, base_url: str | None = None, **options: Any) -> None:
        token = os.environ.get("PLURIVERSE_TOKEN")
        if token and urlsplit(base_url or "").username is None:
            options["headers"] = {"Authorization": f"Bearer {token}", **(options.get("headers") or {})}
        super().__init__(base_url, **options)

    async def _connect_async(self) -> Self:
        """Connect.

        Raises:
            ConnectionError: the server can't be reached, or refuses the token.
        """
        try:
            await super()._connect_async()  # pyright: ignore[reportUnknownMemberType]
        except (ConnectionError, TypeError) as error:
            # OpenEnv's message has the URL, and so the token; its synchronous client fails while it tells of it.
            reason = error.__context__ or error
            where = re.sub(r"//[^@/]*@", "//", self.base_url or "")
            raise ConnectionError(f"no connection to {where}: {reason}") from reason
        return self

    def _step_payload(self, action: PluriverseAction) -> dict[str, Any]:
        return action.model_dump(exclude_defaults=True)

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[PluriverseObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        observation = PluriverseObservation(**payload.get("observation", {}), reward=reward, done=done)
        return StepResult(observation, reward, done)

    def _parse_state(self, payload: dict[str, Any]) -> PluriverseState:
        return PluriverseState(**payload)
