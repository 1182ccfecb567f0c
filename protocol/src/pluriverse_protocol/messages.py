"""The messages of the v0 rewarder protocol, one frozen dataclass each; a field's annotation is its kind on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from .env_options import OptionsOfEnv, OptionValues
from .env_spaces import SpacesOfEnv
from .kinds import (
    Clock,
    Count,
    EnvId,
    EnvState,
    EpisodeId,
    Events,
    Flag,
    Fps,
    Handles,
    Json,
    MessageIdentifier,
    Names,
    Number,
    Object,
    Picture,
    PictureShape,
    Seed,
    Side,
    StepFrames,
    String,
    Time,
)
from .tree import Nodes


@dataclass(frozen=True)
class Headers:
    """The headers of every message.

    ``message_id`` is unique in its direction on its connection, ``sent_at`` the sender's UNIX seconds. Replies name
    their request in ``parent_message_id`` and how long it took in ``parent_runtime`` (seconds); a reply to a ping
    also says when it was ``received_at``. ``number`` counts what is sent again to an agent that comes back to its seat,
    and the agent says in ``last_number`` which it has had last.
    """

    message_id: MessageIdentifier
    sent_at: Time
    episode_id: EpisodeId | None = None
    parent_message_id: MessageIdentifier | None = None
    parent_runtime: Time | None = None
    received_at: Time | None = None
    number: Count | None = None
    last_number: Count | None = None


# ── server → agent ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Describe:
    """The environment and its state: the first message on every connection, and on every change of state.

    ``picture`` is the part of the screen that the environment draws on; None stands for all of it.
    ``spaces`` are its actions and observations (``env_spaces.Spaces``), ``options`` what a reset may ask of it
    (``env_options.Option``), where the runtime declares them. ``info`` is what is known of an episode that begins to
    run, as rewards carry it. ``clock`` is the episode's; where the environment has others beside real time, they are
    in ``clocks``, ``frame_time`` is how many seconds of the program's time a frame lasts, and ``lockstep`` says whether
    those of lockstep are ``"exact"``, or the program is ``"frozen"`` between them. ``slots`` is how many environments
    the remote holds in lockstep, where that is more than one. ``views``: its lanes send the part of the picture that is
    asked of them, as small and grey as that is.
    """

    env_id: EnvId
    env_state: EnvState
    fps: Fps
    runtime: String | None = None
    runtime_version: String | None = None
    width: Side | None = None
    height: Side | None = None
    clock: String | None = None
    clocks: Names | None = None
    frame_time: Time | None = None
    lockstep: String | None = None
    slots: Count | None = None
    views: Flag | None = None
    capabilities: Names | None = None
    metadata_encoding: Json | None = None
    picture: Picture | None = None
    spaces: SpacesOfEnv | None = None
    options: OptionsOfEnv | None = None
    info: Object | None = None


@dataclass(frozen=True)
class Reward:
    """The reward since the last one; with ``done``, the last of its episode."""

    reward: Number
    done: Flag
    info: Object = field(default_factory=dict[str, Any])
    terminated: Flag | None = None
    truncated: Flag | None = None
    frame_at: Time | None = None


@dataclass(frozen=True)
class Text:
    """A text observation."""

    text: String


@dataclass(frozen=True)
class Observation:
    """A structured observation, for environments that have them."""

    observation: Json


@dataclass(frozen=True)
class Close:
    """The server is about to hang up, and why."""

    message: String


@dataclass(frozen=True)
class ErrorReply:
    """A request failed, and why."""

    message: String


@dataclass(frozen=True)
class ResetReply:
    """The reset was accepted; the header ``episode_id`` names the episode that it began."""


@dataclass(frozen=True)
class PingReply:
    """The answer to a ping, at once."""


@dataclass(frozen=True)
class FirstFrame:
    """In lockstep: an episode's first frame, unasked, or in a slot the answer to ``AgentBegin``.

    The pixels of ``frame`` follow in the same WebSocket message.
    """

    frame: PictureShape
    text: String = ""
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class StepReply:
    """In lockstep: the answer to step ``n``, with all that its frames earned. Pixels follow as in ``FirstFrame``.

    ``text`` is the last of the step, if there was one. With ``done`` the episode is over, and ``info`` has the
    ``reason``.
    """

    n: Count
    reward: Number
    done: Flag
    terminated: Flag
    truncated: Flag
    frame: PictureShape
    text: String = ""
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class SnapshotReply:
    """In lockstep: the snapshot's ``handle``; None: the program can keep none, and its agent plays again instead."""

    handle: Count | None = None


@dataclass(frozen=True)
class RestoreReply:
    """In lockstep: the episode is where it was; its frame is that of then. Pixels follow as in ``FirstFrame``."""

    frame: PictureShape
    text: String = ""
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class TreeReply:
    """What is on the environment's picture now, in ``nodes``, depth first. ``left_out``: how many more there were."""

    nodes: Nodes
    left_out: Count = 0


# ── agent → server ──────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reset:
    """Begin an episode; the header ``episode_id`` names the one to leave behind. ``env_id`` None: the present one.

    ``options`` are values by name for this episode and those after it; options without a value get their defaults.
    None: those that the environment had last, where it stays the same. ``clock`` None: real time.
    """

    env_id: EnvId | None = None
    seed: Seed | None = None
    fps: Fps | None = None
    options: OptionValues | None = None
    clock: Clock | None = None


@dataclass(frozen=True)
class Ping:
    """Answer at once; four timestamps give the clocks' offset."""


@dataclass(frozen=True)
class Tree:
    """Say what is on the environment's picture: of remotes with the capability ``tree``. Observers may ask, too."""


@dataclass(frozen=True)
class Action:
    """Input events of the agent: keys, pointer, joystick."""

    action: Events
    env_id: EnvId | None = None


@dataclass(frozen=True)
class AgentStep:
    """In lockstep: apply ``events``, and let the program go on by ``frames``. The header names the episode."""

    n: Count
    frames: StepFrames = 1
    events: Events = ()


@dataclass(frozen=True)
class AgentSnapshot:
    """In lockstep: keep the moment of the episode that the header names, and no longer the snapshots in ``drop``."""

    drop: Handles = ()


@dataclass(frozen=True)
class AgentRestore:
    """In lockstep: go on from a snapshot, with the keys that were held then. The header names the episode.

    It keeps its number.
    """

    handle: Count


@dataclass(frozen=True)
class AgentBegin:
    """In a slot: begin an episode of what the remote plays. Without a seed it follows from the one before."""

    seed: Seed | None = None


ServerMessage = (
    Describe
    | Reward
    | Text
    | Observation
    | Close
    | ErrorReply
    | ResetReply
    | PingReply
    | FirstFrame
    | StepReply
    | SnapshotReply
    | RestoreReply
    | TreeReply
)
AgentMessage = Reset | Ping | Tree | Action | AgentStep | AgentSnapshot | AgentRestore | AgentBegin
Message = ServerMessage | AgentMessage

Pictured = FirstFrame | StepReply | RestoreReply
"""What has a picture behind it."""

SERVER_METHODS: Final[dict[str, type[ServerMessage]]] = {
    "v0.env.describe": Describe,
    "v0.env.reward": Reward,
    "v0.env.text": Text,
    "v0.env.observation": Observation,
    "v0.connection.close": Close,
    "v0.reply.error": ErrorReply,
    "v0.reply.env.reset": ResetReply,
    "v0.reply.control.ping": PingReply,
    "v0.reply.env.tree": TreeReply,
    "v0.env.frame": FirstFrame,
    "v0.reply.agent.step": StepReply,
    "v0.reply.agent.snapshot": SnapshotReply,
    "v0.reply.agent.restore": RestoreReply,
}
AGENT_METHODS: Final[dict[str, type[AgentMessage]]] = {
    "v0.env.reset": Reset,
    "v0.control.ping": Ping,
    "v0.env.tree": Tree,
    "v0.agent.action": Action,
    "v0.agent.step": AgentStep,
    "v0.agent.snapshot": AgentSnapshot,
    "v0.agent.restore": AgentRestore,
    "v0.agent.begin": AgentBegin,
}
METHOD_OF: Final[dict[type[Message], str]] = {
    **{message: method for method, message in SERVER_METHODS.items()},
    **{message: method for method, message in AGENT_METHODS.items()},
}
