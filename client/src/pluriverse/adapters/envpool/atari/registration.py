"""Registers EnvPool's Atari games: all that a remote has."""

from typing import Final

from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse.adapters.envpool.registration import register

atari_game_list: Final = sorted(MINIMAL_ACTIONS)
"""The games by the names of their ROMs."""

for rom in atari_game_list:
    register(
        f"{''.join(word.capitalize() for word in rom.split('_'))}-v5",
        "pluriverse.adapters.envpool.atari",
        "AtariEnvSpec",
        "AtariDMEnvPool",
        "AtariGymnasiumEnvPool",
        task=rom,
        max_episode_steps=27000,
    )
