"""The names of all games and environments.

Static, so that printing the catalogue imports nothing; a test compares it with the registries of ale-py, Gymnasium and
minigrid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pluriverse_protocol.atari import MINIMAL_ACTIONS


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ATARI_GAMES: Final = tuple(sorted(MINIMAL_ACTIONS))

# The modes of each game and the positions of its difficulty switches, by ale-py's numbers, the game's own first.
_MODES: Final = {
    "0": """
        amidar assault asterix atlantis2 backgammon beam_rider blackjack boxing carnival darkchambers
        donkey_kong earthworld elevator_action enduro entombed fishing_derby journey_escape kaboom
        keystone_kapers koolaid krull kung_fu_master laser_gates miniature_golf montezuma_revenge phoenix
        pitfall pitfall2 qbert riverraid road_runner robotank seaquest sir_lancelot skiing solaris superman
        tetris time_pilot trondead up_n_down venture wizard_of_wor
    """,
    "0-3": "alien atlantis crazy_climber hangman king_kong mr_do ms_pacman star_gunner",
    "0 2": "chopper_command frostbite gopher ice_hockey surround tennis video_pinball",
    "0-2": "adventure et frogger klax othello",
    "0 1": "jamesbond kangaroo lost_luggage pong",
    "0-4": "gravitar hero private_eye video_chess",
    "0-7": "freeway human_cannonball pacman",
    "0-8": "haunted_house tic_tac_toe_3d turmoil",
    "0 2 4 6": "crossbow mario_bros",
    "0-15": "double_dunk space_invaders",
    "0 2 3": "casino",
    "0 2 4": "bowling",
    "0 32 64 96": "yars_revenge",
    "0 4 8 12": "tutankham",
    "0 4 8 12 16 20 24 28": "bank_heist",
    "0 4 8 12 16 20 24 28 32 36 40 44": "breakout",
    "0 8 16 24": "zaxxon",
    "0-23": "word_zapper",
    "0-31 128": "asteroids",
    "1 3 5 7": "demon_attack",
    "1-3": "battle_zone",
    "1-8": "air_raid",
    "1-9": "galaxian",
    "1-9 11-19": "video_checkers",
    "1-9 16": "defender",
    "1-9 16-18": "berzerk",
    "10 30 50 70": "pooyan",
    "22 86": "centipede",
    "5-8": "basic_math",
    "6-17": "space_war",
    "8 24 40": "name_this_game",
    "8-10": "flag_capture",
}
_DIFFICULTIES: Final = {
    "0": """
        air_raid assault asterix atlantis atlantis2 battle_zone berzerk carnival centipede darkchambers
        donkey_kong double_dunk earthworld elevator_action enduro flag_capture frostbite gravitar hero jamesbond
        kaboom kangaroo keystone_kapers king_kong klax koolaid krull kung_fu_master laser_gates mario_bros
        montezuma_revenge mr_do ms_pacman phoenix pitfall pitfall2 pooyan road_runner robotank sir_lancelot
        skiing solaris space_war star_gunner tetris turmoil tutankham video_checkers video_chess zaxxon
    """,
    "0 1": """
        beam_rider bowling breakout chopper_command crazy_climber crossbow defender demon_attack freeway frogger
        galaxian gopher hangman haunted_house human_cannonball journey_escape lost_luggage miniature_golf
        name_this_game pacman qbert riverraid seaquest space_invaders trondead video_cube video_pinball
        wizard_of_wor yars_revenge
    """,
    "0-3": """
        adventure alien bank_heist blackjack boxing casino et fishing_derby ice_hockey pong private_eye superman
        surround tennis up_n_down venture word_zapper
    """,
    "0 2": "entombed othello tic_tac_toe_3d",
    "0 3": "amidar asteroids backgammon",
    "0 2 3": "basic_math",
    "0-2": "time_pilot",
}


def _numbers(text: str) -> tuple[int, ...]:
    ranges = (part.partition("-") for part in text.split())
    return tuple(number for low, _, high in ranges for number in range(int(low), int(high or low) + 1))


def _by_game(table: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    return {game: _numbers(numbers) for numbers, games in table.items() for game in games.split()}


# The cubes of Video Cube are numbered in hundreds, each with three variants.
_CUBES: Final = tuple(100 * cube + variant for cube in range(51) for variant in range(3))

MODES: Final = {**_by_game(_MODES), "video_cube": _CUBES}
DIFFICULTIES: Final = _by_game(_DIFFICULTIES)

# Gymnasium's environments in which time goes on, with the steps a second that they were made for (``render_fps``).
REAL_TIME: Final[dict[str, float]] = {
    "Acrobot-v1": 15.0,
    "BipedalWalker-v3": 50.0,
    "BipedalWalkerHardcore-v3": 50.0,
    "CarRacing-v3": 50.0,
    "CartPole-v1": 50.0,
    "LunarLander-v3": 50.0,
    "LunarLanderContinuous-v3": 50.0,
    "MountainCar-v0": 30.0,
    "MountainCarContinuous-v0": 30.0,
    "Pendulum-v1": 30.0,
}

# The numbers of the observations that are sent beside the picture, where they are.
OBSERVATION_SHAPES: Final[dict[str, tuple[int, ...]]] = {"CartPole-v0": (4,)}

# Gymnasium's and minigrid's environments in which each key press is a step. MiniGrid-WFC-* need packages of their own.
TOY_TEXT: Final = _names(
    """
    Blackjack-v1 CliffWalking-v1 CliffWalkingSlippery-v1 FrozenLake-v1 FrozenLake8x8-v1 Taxi-v4
    """
)
MINIGRID: Final = _names(
    """
    MiniGrid-BlockedUnlockPickup-v0 MiniGrid-DistShift1-v0 MiniGrid-DistShift2-v0 MiniGrid-DoorKey-16x16-v0
    MiniGrid-DoorKey-5x5-v0 MiniGrid-DoorKey-6x6-v0 MiniGrid-DoorKey-8x8-v0 MiniGrid-Dynamic-Obstacles-16x16-v0
    MiniGrid-Dynamic-Obstacles-5x5-v0 MiniGrid-Dynamic-Obstacles-6x6-v0 MiniGrid-Dynamic-Obstacles-8x8-v0
    MiniGrid-Dynamic-Obstacles-Random-5x5-v0 MiniGrid-Dynamic-Obstacles-Random-6x6-v0 MiniGrid-Empty-16x16-v0
    MiniGrid-Empty-5x5-v0 MiniGrid-Empty-6x6-v0 MiniGrid-Empty-8x8-v0 MiniGrid-Empty-Random-5x5-v0
    MiniGrid-Empty-Random-6x6-v0 MiniGrid-Fetch-5x5-N2-v0 MiniGrid-Fetch-6x6-N2-v0 MiniGrid-Fetch-8x8-N3-v0
    MiniGrid-FourRooms-v0 MiniGrid-GoToDoor-5x5-v0 MiniGrid-GoToDoor-6x6-v0 MiniGrid-GoToDoor-8x8-v0
    MiniGrid-GoToObject-6x6-N2-v0 MiniGrid-GoToObject-8x8-N2-v0 MiniGrid-KeyCorridorS3R1-v0
    MiniGrid-KeyCorridorS3R2-v0 MiniGrid-KeyCorridorS3R3-v0 MiniGrid-KeyCorridorS4R3-v0
    MiniGrid-KeyCorridorS5R3-v0 MiniGrid-KeyCorridorS6R3-v0 MiniGrid-LavaCrossingS11N5-v0
    MiniGrid-LavaCrossingS9N1-v0 MiniGrid-LavaCrossingS9N2-v0 MiniGrid-LavaCrossingS9N3-v0 MiniGrid-LavaGapS5-v0
    MiniGrid-LavaGapS6-v0 MiniGrid-LavaGapS7-v0 MiniGrid-LockedRoom-v0 MiniGrid-MemoryS11-v0
    MiniGrid-MemoryS13-v0 MiniGrid-MemoryS13Random-v0 MiniGrid-MemoryS17Random-v0 MiniGrid-MemoryS7-v0
    MiniGrid-MemoryS9-v0 MiniGrid-MultiRoom-N2-S4-v0 MiniGrid-MultiRoom-N4-S5-v0 MiniGrid-MultiRoom-N4-S5-v1
    MiniGrid-MultiRoom-N6-v0 MiniGrid-ObstructedMaze-1Dl-v0 MiniGrid-ObstructedMaze-1Dlh-v0
    MiniGrid-ObstructedMaze-1Dlhb-v0 MiniGrid-ObstructedMaze-1Q-v0 MiniGrid-ObstructedMaze-1Q-v1
    MiniGrid-ObstructedMaze-2Dl-v0 MiniGrid-ObstructedMaze-2Dlh-v0 MiniGrid-ObstructedMaze-2Dlhb-v0
    MiniGrid-ObstructedMaze-2Dlhb-v1 MiniGrid-ObstructedMaze-2Q-v0 MiniGrid-ObstructedMaze-2Q-v1
    MiniGrid-ObstructedMaze-Full-v0 MiniGrid-ObstructedMaze-Full-v1 MiniGrid-Playground-v0
    MiniGrid-PutNear-6x6-N2-v0 MiniGrid-PutNear-8x8-N3-v0 MiniGrid-RedBlueDoors-6x6-v0
    MiniGrid-RedBlueDoors-8x8-v0 MiniGrid-SimpleCrossingS11N5-v0 MiniGrid-SimpleCrossingS9N1-v0
    MiniGrid-SimpleCrossingS9N2-v0 MiniGrid-SimpleCrossingS9N3-v0 MiniGrid-Unlock-v0 MiniGrid-UnlockPickup-v0
    """
)
BABYAI: Final = _names(
    """
    BabyAI-ActionObjDoor-v0 BabyAI-BlockedUnlockPickup-v0 BabyAI-BossLevel-v0 BabyAI-BossLevelNoUnlock-v0
    BabyAI-FindObjS5-v0 BabyAI-FindObjS6-v0 BabyAI-FindObjS7-v0 BabyAI-GoTo-v0 BabyAI-GoToDoor-v0
    BabyAI-GoToImpUnlock-v0 BabyAI-GoToLocal-v0 BabyAI-GoToLocalS5N2-v0 BabyAI-GoToLocalS6N2-v0
    BabyAI-GoToLocalS6N3-v0 BabyAI-GoToLocalS6N4-v0 BabyAI-GoToLocalS7N4-v0 BabyAI-GoToLocalS7N5-v0
    BabyAI-GoToLocalS8N2-v0 BabyAI-GoToLocalS8N3-v0 BabyAI-GoToLocalS8N4-v0 BabyAI-GoToLocalS8N5-v0
    BabyAI-GoToLocalS8N6-v0 BabyAI-GoToLocalS8N7-v0 BabyAI-GoToObj-v0 BabyAI-GoToObjDoor-v0
    BabyAI-GoToObjMaze-v0 BabyAI-GoToObjMazeOpen-v0 BabyAI-GoToObjMazeS4-v0 BabyAI-GoToObjMazeS4R2-v0
    BabyAI-GoToObjMazeS5-v0 BabyAI-GoToObjMazeS6-v0 BabyAI-GoToObjMazeS7-v0 BabyAI-GoToObjS4-v0
    BabyAI-GoToObjS6-v1 BabyAI-GoToOpen-v0 BabyAI-GoToRedBall-v0 BabyAI-GoToRedBallGrey-v0
    BabyAI-GoToRedBallNoDists-v0 BabyAI-GoToRedBlueBall-v0 BabyAI-GoToSeq-v0 BabyAI-GoToSeqS5R2-v0
    BabyAI-KeyCorridor-v0 BabyAI-KeyCorridorS3R1-v0 BabyAI-KeyCorridorS3R2-v0 BabyAI-KeyCorridorS3R3-v0
    BabyAI-KeyCorridorS4R3-v0 BabyAI-KeyCorridorS5R3-v0 BabyAI-KeyCorridorS6R3-v0 BabyAI-KeyInBox-v0
    BabyAI-MiniBossLevel-v0 BabyAI-MoveTwoAcrossS5N2-v0 BabyAI-MoveTwoAcrossS8N9-v0 BabyAI-OneRoomS12-v0
    BabyAI-OneRoomS16-v0 BabyAI-OneRoomS20-v0 BabyAI-OneRoomS8-v0 BabyAI-Open-v0 BabyAI-OpenDoor-v0
    BabyAI-OpenDoorColor-v0 BabyAI-OpenDoorDebug-v0 BabyAI-OpenDoorLoc-v0 BabyAI-OpenDoorsOrderN2-v0
    BabyAI-OpenDoorsOrderN2Debug-v0 BabyAI-OpenDoorsOrderN4-v0 BabyAI-OpenDoorsOrderN4Debug-v0
    BabyAI-OpenRedBlueDoors-v0 BabyAI-OpenRedBlueDoorsDebug-v0 BabyAI-OpenRedDoor-v0 BabyAI-OpenTwoDoors-v0
    BabyAI-Pickup-v0 BabyAI-PickupAbove-v0 BabyAI-PickupDist-v0 BabyAI-PickupDistDebug-v0 BabyAI-PickupLoc-v0
    BabyAI-PutNextLocal-v0 BabyAI-PutNextLocalS5N3-v0 BabyAI-PutNextLocalS6N4-v0 BabyAI-PutNextS4N1-v0
    BabyAI-PutNextS5N1-v0 BabyAI-PutNextS5N2-v0 BabyAI-PutNextS5N2Carrying-v0 BabyAI-PutNextS6N3-v0
    BabyAI-PutNextS6N3Carrying-v0 BabyAI-PutNextS7N4-v0 BabyAI-PutNextS7N4Carrying-v0 BabyAI-Synth-v0
    BabyAI-SynthLoc-v0 BabyAI-SynthS5R2-v0 BabyAI-SynthSeq-v0 BabyAI-UnblockPickup-v0 BabyAI-Unlock-v0
    BabyAI-UnlockLocal-v0 BabyAI-UnlockLocalDist-v0 BabyAI-UnlockPickup-v0 BabyAI-UnlockPickupDist-v0
    BabyAI-UnlockToUnlock-v0
    """
)
TURN_BASED: Final = TOY_TEXT + MINIGRID + BABYAI
