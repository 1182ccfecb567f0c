import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from pluriverse_authoring.record import RandomAgent
from pluriverse_protocol import messages
from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.events import Event, KeyEvent
from pluriverse_protocol.kinds import EnvState
from pluriverse_server.daemon.requests import RequestError
from pluriverse_server.episode import Send
from support.waiting import eventually

UP, FIRE = 0xFF52, ord("z")


class Hands:
    """Notes what is pressed, and what is down."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.pressed: list[int] = []
        self.refusing = False

    async def act(self, events: Sequence[Event]) -> None:
        if self.refusing:
            self.refusing = False
            raise RequestError("the screen is restarting")
        for event in events:
            assert isinstance(event, KeyEvent)
            if event.down:
                self.pressed.append(event.keysym)
                self.down.add(event.keysym)
            else:
                self.down.remove(event.keysym)


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
async def agent(hands: Hands) -> AsyncIterator[RandomAgent]:
    agent = RandomAgent(hands.act, [Choice("up", (UP,)), Choice("up and fire", (UP, FIRE))])
    playing = asyncio.create_task(agent.play())
    yield agent
    playing.cancel()
    await asyncio.wait({playing})


def tell(agent: RandomAgent, state: EnvState) -> None:
    agent.on_output(Send(messages.Describe("tiny.Bar-v0", state, 60.0), 1))


async def test_it_holds_a_choice_once_an_episode_runs(agent: RandomAgent, hands: Hands) -> None:
    tell(agent, "running")
    await eventually(lambda: hands.down in ({UP}, {UP, FIRE}))
    await eventually(lambda: FIRE in hands.pressed)


async def test_it_lets_go_when_the_episode_is_over_and_presses_nothing_on_the_way_to_the_next(
    agent: RandomAgent, hands: Hands
) -> None:
    tell(agent, "running")
    await eventually(lambda: hands.down)
    tell(agent, "resetting")
    await eventually(lambda: not hands.down)
    pressed = list(hands.pressed)
    tell(agent, "resetting")
    await asyncio.sleep(0)
    assert hands.pressed == pressed


async def test_it_goes_on_where_the_screen_takes_nothing_for_a_while(agent: RandomAgent, hands: Hands) -> None:
    hands.refusing = True
    tell(agent, "running")
    await eventually(lambda: not hands.refusing)
    tell(agent, "resetting")
    tell(agent, "running")
    await eventually(lambda: hands.pressed)
