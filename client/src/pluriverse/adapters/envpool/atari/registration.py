"""Registers EnvPool's Atari games: all that a remote has."""

from pluriverse_protocol.atari import MINIMAL_ACTIONS

from pluriverse.adapters.envpool.registration import register

for rom in sorted(MINIMAL_ACTIONS):
    register(
        f"{''.join(word.capitalize() for word in rom.split('_'))}-v5",
        "pluriverse.adapters.envpool.atari",
        "AtariEnvSpec",
        "AtariDMEnvPool",
        "AtariGymnasiumEnvPool",
        task=rom,
        max_episode_steps=27000,
    )
