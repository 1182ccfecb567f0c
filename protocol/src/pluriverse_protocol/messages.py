"""The messages of the v0 rewarder protocol, one frozen Struct each; a field's annotation is its kind on the wire."""

from __future__ import annotations

from typing import Any, Final, get_args

from msgspec import field

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
    Handle,
    Handles,
    Json,
    JsonObject,
    MessageIdentifier,
    Names,
    Number,
    Object,
    Picture,
    PictureShape,
    Rows,
    Seed,
    Side,
    SnapshotName,
    StepFrames,
    String,
    Time,
    always,
    expect_on_screen,
)
from .tree import Nodes, expect_tree


class Headers(JsonObject, frozen=True):
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


class Message(JsonObject, frozen=True, tag_field="method"):
    """The body of a message. Its method is its tag, and stands beside it in the envelope."""


# ── server → agent ──────────────────────────────────────────────────────────────────────────────────────────────────


class Describe(Message, frozen=True, tag="v0.env.describe"):
    """The environment and its state: the first message on every connection, and on every change of state.

    ``picture`` is the part of the screen that the environment draws on; None stands for all of it.
    ``spaces`` are its actions and observations (``env_spaces.Spaces``), ``options`` what a reset may ask of it
    (``env_options.Option``), where the runtime declares them. ``info`` is what is known of an episode that begins to
    run, as rewards carry it. ``clock`` is the episode's; where the environment has others beside real time, they are
    in ``clocks``, ``frame_time`` is how many seconds of the program's time a frame lasts, and ``lockstep`` says whether
    those of lockstep are ``"exact"``, or the program is ``"frozen"`` between them. ``time_limit`` is after how many
    seconds of the program's time an episode ends at the latest. ``slots`` is how many environments the remote holds in
    lockstep, where that is more than one. ``views``: its step channels send the part of the picture that is asked of
    them, as small and grey as that is. ``audio``: what programs play is to be had, in so many frames a second.
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
    time_limit: Time | None = None
    lockstep: String | None = None
    slots: Count | None = None
    views: Flag | None = None
    audio: Count | None = None
    capabilities: Names | None = None
    metadata_encoding: Json | None = None
    picture: Picture | None = None
    spaces: SpacesOfEnv | None = None
    options: OptionsOfEnv | None = None
    info: Object | None = None

    def __post_init__(self) -> None:
        expect_on_screen(self, self.picture)

    @property
    def size(self) -> tuple[int, int]:
        """The screen's width and height in pixels; Universe's remotes, which don't send it, have 1024 x 768."""
        return self.width or 1024, self.height or 768

    @property
    def box(self) -> tuple[int, int, int, int]:
        """What the environment draws on: x, y, width and height in pixels of the screen."""
        return self.picture or (0, 0, *self.size)


class Reward(Message, frozen=True, tag="v0.env.reward"):
    """The reward since the last one; with ``done``, the last of its episode."""

    reward: Number
    done: Flag
    info: Object = field(default_factory=dict[str, Any])
    terminated: Flag | None = None
    truncated: Flag | None = None
    frame_at: Time | None = None


class Text(Message, frozen=True, tag="v0.env.text"):
    """A text observation."""

    text: String


class Observation(Message, frozen=True, tag="v0.env.observation"):
    """A structured observation, for environments that have them."""

    observation: Json


class Close(Message, frozen=True, tag="v0.connection.close"):
    """The server is about to hang up, and why."""

    message: String


class ErrorReply(Message, frozen=True, tag="v0.reply.error"):
    """A request failed, and why."""

    message: String


class ResetReply(Message, frozen=True, tag="v0.reply.env.reset"):
    """The reset was accepted; the header ``episode_id`` names the episode that it began."""


class PingReply(Message, frozen=True, tag="v0.reply.control.ping"):
    """The answer to a ping, at once."""


class FirstFrame(Message, frozen=True, tag="v0.env.frame"):
    """In lockstep: an episode's first frame, unasked, or in a slot the answer to ``AgentBegin``.

    The pixels of ``frame`` follow in the same WebSocket message.
    """

    frame: PictureShape
    text: String = always("")
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])


class StepReply(Message, frozen=True, tag="v0.reply.agent.step"):
    """In lockstep: the answer to step ``n``, with all that its frames earned. Pixels follow as in ``FirstFrame``.

    ``text`` is the last of the step, if there was one. With ``done`` the episode is over, and ``info`` has the
    ``reason``. Where sound is asked for, ``sound`` frames of it follow the pixels, each of two 16-bit integers, left
    and right, of little-endian byte order. Where changes are, the pixels of ``rows`` alone may follow: the others are
    as in the frame before.
    """

    n: Count
    reward: Number
    done: Flag
    terminated: Flag
    truncated: Flag
    frame: PictureShape
    text: String = always("")
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])
    sound: Count | None = None
    rows: Rows | None = None


class SnapshotReply(Message, frozen=True, tag="v0.reply.agent.snapshot"):
    """In lockstep: the snapshot's ``handle``; None: the program can keep none, and its agent plays again instead."""

    handle: Handle | None = None


class RestoreReply(Message, frozen=True, tag="v0.reply.agent.restore"):
    """In lockstep: the episode is where it was; its frame is that of then. Pixels follow as in ``FirstFrame``."""

    frame: PictureShape
    text: String = always("")
    observation: Json | None = None
    info: Object = field(default_factory=dict[str, Any])


class TreeReply(Message, frozen=True, tag="v0.reply.env.tree"):
    """What is on the environment's picture now, in ``nodes``, depth first. ``left_out``: how many more there were."""

    nodes: Nodes
    left_out: Count = always(0)

    def __post_init__(self) -> None:
        expect_tree(self.nodes)


# ── agent → server ──────────────────────────────────────────────────────────────────────────────────────────────────


class Reset(Message, frozen=True, tag="v0.env.reset"):
    """Begin an episode; the header ``episode_id`` names the one to leave behind. ``env_id`` None: the present one.

    ``options`` are values by name for this episode and those after it; options without a value get their defaults.
    None: those that the environment had last, where it stays the same. ``clock`` None: real time.
    """

    env_id: EnvId | None = None
    seed: Seed | None = None
    fps: Fps | None = None
    options: OptionValues | None = None
    clock: Clock | None = None


class Ping(Message, frozen=True, tag="v0.control.ping"):
    """Answer at once; four timestamps give the clocks' offset."""


class Tree(Message, frozen=True, tag="v0.env.tree"):
    """Request the tree of the environment's picture; needs the capability ``tree``. Observers may ask, too."""


class Action(Message, frozen=True, tag="v0.agent.action"):
    """Input events of the agent: keys, pointer, joystick."""

    action: Events
    env_id: EnvId | None = None


class AgentStep(Message, frozen=True, tag="v0.agent.step"):
    """In lockstep: apply ``events``, and let the program go on by ``frames``. The header names the episode."""

    n: Count
    frames: StepFrames = always(1)
    events: Events = always(())


class AgentSnapshot(Message, frozen=True, tag="v0.agent.snapshot"):
    """In lockstep: keep the moment of the episode that the header names, and no longer the snapshots in ``drop``.

    With a ``name``, which is its handle then, it stays after the agent has gone, in the place of one of that name.
    """

    drop: Handles = always(())
    name: SnapshotName | None = None


class AgentRestore(Message, frozen=True, tag="v0.agent.restore"):
    """In lockstep: go on from a snapshot, with the keys that were held then. The header names the episode.

    It keeps its number.
    """

    handle: Handle


class AgentBegin(Message, frozen=True, tag="v0.agent.begin"):
    """In a slot: begin an episode. Without a seed it follows from the one before.

    ``env_id`` None: the slot's last, at first what the remote plays. ``options`` None: as before, where that is the
    same. Slots of pages alone play others than their remote.
    """

    seed: Seed | None = None
    env_id: EnvId | None = None
    options: OptionValues | None = None


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

Pictured = FirstFrame | StepReply | RestoreReply
"""What has a picture behind it."""


def method_of(message: Message | type[Message]) -> str:
    return str(message.__struct_config__.tag)


SERVER_METHODS: Final[dict[str, type[ServerMessage]]] = {method_of(kind): kind for kind in get_args(ServerMessage)}
AGENT_METHODS: Final[dict[str, type[AgentMessage]]] = {method_of(kind): kind for kind in get_args(AgentMessage)}
