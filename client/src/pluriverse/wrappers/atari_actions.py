"""The meanings of ALE's actions, and each game's minimal set of them, by gym-core's name of the game.

Static, so that agents need no emulator; a test compares it with ale-py.
"""

from __future__ import annotations

from typing import Final

MEANINGS: Final = (
    "NOOP",
    "FIRE",
    "UP",
    "RIGHT",
    "LEFT",
    "DOWN",
    "UPRIGHT",
    "UPLEFT",
    "DOWNRIGHT",
    "DOWNLEFT",
    "UPFIRE",
    "RIGHTFIRE",
    "LEFTFIRE",
    "DOWNFIRE",
    "UPRIGHTFIRE",
    "UPLEFTFIRE",
    "DOWNRIGHTFIRE",
    "DOWNLEFTFIRE",
)

# A set of actions, and the games that take it.
_GAMES: Final[dict[tuple[int, ...], str]] = {
    (0, 2, 5): "Freeway",
    (0, 3, 4): "Skiing",
    (0, 1, 3, 4): "Breakout",
    (0, 1, 11, 12): "Atlantis",
    (0, 1, 2, 3, 4, 5): "Qbert",
    (0, 1, 2, 5, 10, 13): "Bowling Pooyan UpNDown",
    (0, 1, 3, 4, 11, 12): "AirRaid Carnival DemonAttack NameThisGame Pong SpaceInvaders",
    (0, 1, 2, 3, 4, 11, 12): "Assault",
    (0, 1, 2, 3, 4, 10, 11, 12): "Gopher",
    (0, 1, 3, 4, 5, 11, 12, 13): "Phoenix",
    (0, 2, 3, 4, 5, 10, 11, 12): "Tutankham",
    (0, 1, 2, 3, 4, 5, 10, 11, 12): "VideoPinball",
    (0, 1, 2, 3, 4, 6, 7, 11, 12): "BeamRider",
    (0, 1, 3, 4, 5, 8, 9, 11, 12): "Enduro",
    (0, 2, 3, 4, 5, 6, 7, 8, 9): "Asterix CrazyClimber MsPacman",
    (0, 1, 2, 3, 4, 5, 10, 11, 12, 13): "Amidar TimePilot WizardOfWor",
    (0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15): "Asteroids",
    (0, 2, 3, 4, 5, 8, 9, 11, 12, 13, 14, 15, 16, 17): "KungFuMaster",
    (0, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17): "JourneyEscape",
    tuple(range(18)): """
        Alien BankHeist BattleZone Berzerk Boxing Centipede ChopperCommand DoubleDunk ElevatorAction
        FishingDerby Frostbite Gravitar IceHockey Jamesbond Kangaroo Krull MontezumaRevenge Pitfall
        PrivateEye Riverraid RoadRunner Robotank Seaquest Solaris StarGunner Tennis Venture YarsRevenge
        Zaxxon
    """,
}
MINIMAL: Final = {game: actions for actions, games in _GAMES.items() for game in games.split()}
