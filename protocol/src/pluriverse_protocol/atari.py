"""Atari's actions as ale-py numbers them, and those that each game makes use of: its minimal set.

Static, so that neither an agent nor a list of environments needs an emulator; a test compares it with ale-py.
"""

from __future__ import annotations

from typing import Final

# What ale-py calls its actions (ale_py.Action), by number.
ACTIONS: Final = (
    *("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    *("UPFIRE", "RIGHTFIRE", "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
)

# By ale-py's names of the games that one plays alone; it has four more, for two.
_GAMES: Final[dict[tuple[int, ...], str]] = {
    (0, 2, 5): "freeway",
    (0, 3, 4): "skiing",
    (1, 3, 4): "backgammon",
    (0, 1, 2, 5): "blackjack casino",
    (0, 1, 3, 4): "breakout kaboom",
    (0, 1, 11, 12): "atlantis atlantis2",
    (0, 1, 3, 4, 5): "tetris",
    (0, 2, 3, 4, 5): "frogger pacman surround",
    (1, 6, 7, 8, 9): "video_checkers",
    (0, 1, 2, 3, 4, 5): "basic_math king_kong qbert",
    (0, 1, 2, 5, 10, 13): "bowling pooyan up_n_down",
    (0, 1, 3, 4, 11, 12): "air_raid carnival demon_attack galaxian name_this_game pong sir_lancelot space_invaders",
    (0, 1, 2, 3, 4, 11, 12): "assault",
    (0, 1, 2, 3, 4, 10, 11, 12): "gopher",
    (0, 1, 3, 4, 5, 11, 12, 13): "phoenix",
    (0, 2, 3, 4, 5, 10, 11, 12): "tutankham",
    (0, 1, 2, 3, 4, 5, 10, 11, 12): "video_pinball",
    (0, 1, 2, 3, 4, 6, 7, 11, 12): "beam_rider",
    (0, 1, 3, 4, 5, 8, 9, 11, 12): "enduro",
    (0, 2, 3, 4, 5, 6, 7, 8, 9): "asterix crazy_climber koolaid lost_luggage ms_pacman",
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9): "othello tic_tac_toe_3d video_chess",
    (0, 1, 2, 3, 4, 5, 10, 11, 12, 13): "amidar mr_do time_pilot wizard_of_wor",
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12): "turmoil",
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13): "keystone_kapers",
    (0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15): "asteroids",
    (0, 2, 3, 4, 5, 8, 9, 11, 12, 13, 14, 15, 16, 17): "kung_fu_master",
    (0, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17): "journey_escape",
    tuple(range(len(ACTIONS))): """
        adventure alien bank_heist battle_zone berzerk boxing centipede chopper_command crossbow darkchambers
        defender donkey_kong double_dunk earthworld elevator_action entombed et fishing_derby flag_capture
        frostbite gravitar hangman haunted_house hero human_cannonball ice_hockey jamesbond kangaroo klax krull
        laser_gates mario_bros miniature_golf montezuma_revenge pitfall pitfall2 private_eye riverraid
        road_runner robotank seaquest solaris space_war star_gunner superman tennis trondead venture video_cube
        word_zapper yars_revenge zaxxon
    """,
}

# Gymnasium's action i of a game is the i-th of these.
MINIMAL_ACTIONS: Final = {game: actions for actions, games in _GAMES.items() for game in games.split()}
