"""Every limit on what a peer may send, by name, each with the reason for its number."""

from __future__ import annotations

from typing import Final

# An action of a whole keyboard going down and up, with a pointer path of some hundred points, is under 16 KiB.
MAX_MESSAGE_BYTES: Final = 64 * 1024

# One action is what an agent does between two frames. A thousand events is a second of a 1000 Hz mouse.
MAX_EVENTS_PER_ACTION: Final = 1024

# Identifiers are shown on one line and kept in memory for each message.
MAX_ENV_ID_CHARS: Final = 256
MAX_MESSAGE_ID_CHARS: Final = 256

# A step is answered within the seconds that an agent waits: a minute of a program's time at 60 frames a second.
MAX_STEP_FRAMES: Final = 3600

# Snapshots that a program keeps for its agent, and what they may take: an Atari game's is 15 kB.
MAX_SNAPSHOTS: Final = 4096
MAX_SNAPSHOT_NAME_CHARS: Final = 100
MAX_SNAPSHOT_BYTES: Final = 1024 * 1024 * 1024

# A byte numbers them. Each takes memory, and a share of a processor.
MAX_SLOTS: Final = 256

# Pages take turns, and some 30 MB each.
MAX_PAGE_SLOTS: Final = 32

# Sides of a picture as it is asked for: an agent takes answers of so many pixels each way.
MAX_VIEW_SIDE: Final = 4096

# For drawn seeds: old agents' random generators, including NumPy's and ALE's, take no more.
DRAWN_SEED_BITS: Final = 31

# JSON integers beyond 2**53 don't survive every peer's parser; an episode a millisecond lasts 285,000 years.
MAX_EPISODE_ID: Final = 2**53

# NumPy and ALE take 32-bit seeds; a peer may send what fits Gymnasium's 64 bits.
MAX_SEED: Final = 2**63 - 1

# A step that lasts longer than a minute and a half isn't waited for.
MIN_FPS: Final = 0.01

# Above any screen's refresh rate; an emulator can't be paced more finely by the operating system's clock.
MAX_FPS: Final = 1000.0

# UNIX seconds of the year 5138: clocks' differences and sums of them are finite.
MAX_TIME_S: Final = 1e11

# Screens of RFB are at most 65535 pixels each way.
MAX_COORDINATE: Final = 65535

# What X moves a pointer by at once.
MAX_MOTION: Final = 0x7FFF

# Twice an 8K display. RFB has 16 bits for each side, and 65535 x 65535 pixels would be 12 GiB.
MAX_SIDE: Final = 16384

# Two 8K displays side by side; 192 MiB of RGB.
MAX_PIXELS: Final = 64 * 1024 * 1024

# X keysyms are 29 bits.
MAX_KEYSYM: Final = 0x1FFFFFFF

# ALE's largest set of actions has 18; a policy with hundreds of outputs is better off with the keys themselves.
MAX_CHOICES: Final = 256

# Choices are listed for people, one a line.
MAX_CHOICE_NAME_CHARS: Final = 64

# A stick's two directions and six buttons; keyboards on USB report six keys at once.
MAX_KEYS_OF_CHOICE: Final = 8

# Keyboards have some 110 keys; with Shift and AltGr they type three times as many keysyms.
MAX_KEYS: Final = 512

# Of a program: what two people at one screen hold.
MAX_PADS: Final = 2

# The largest that are common are stacks of pictures: count, height, width, channels.
MAX_OBSERVATION_DIMENSIONS: Final = 4

# At 16 characters a number, as many as fit a report of MAX_REPORT_BYTES.
MAX_OBSERVATION_NUMBERS: Final = 65_536

# As many as a page of settings shows.
MAX_OPTIONS: Final = 32

# Options are listed for people, one a line.
MAX_OPTION_NAME_CHARS: Final = 64

# A string may be the name of a level or file; as many as MAX_OPTIONS fit a message in any alphabet.
MAX_OPTION_CHARS: Final = 256

# Games on cartridges number their variants in a byte.
MAX_OPTION_CHOICES: Final = 256

# JSON integers beyond 2**53 don't survive every peer's parser.
MAX_OPTION_INTEGER: Final = 2**53

# Of what is on a screen: a page of this many controls is more than anybody looks through. A tree has to fit a report.
MAX_TREE_NODES: Final = 2000

# The longest names of roles, WAI-ARIA's among them, have under thirty.
MAX_ROLE_CHARS: Final = 64

# Of a name or value of what is on a screen: a paragraph. JSON has 12 bytes for what takes most of them.
MAX_LABEL_CHARS: Final = 1024
MAX_TREE_CHARS: Final = 64 * 1024

# Observers' trees, all taken together: each keeps the environment from drawing for as long as a frame takes or two.
MAX_WATCHED_TREES_PER_S: Final = 2.0

# A WebSocket's pings and pongs to a server: a peer asks once in some seconds whether the other is there, and answers as
# often. Those that a network held back for a minute come at once.
MAX_CONTROL_FRAMES_AT_ONCE: Final = 100
MAX_CONTROL_FRAMES_PER_S: Final = 10.0

# A report of a program: a structured observation may carry some thousand numbers.
MAX_REPORT_BYTES: Final = 1024 * 1024

# Enough for 128 random bits in any alphabet.
MAX_TOKEN_CHARS: Final = 128

# An agent whose line breaks keeps its seat for so long: networks that come back at all do so within seconds.
SEAT_KEPT_S: Final = 30.0

# Messages sent to an agent that has not said that it has them: it says so once a second. More of either, and the
# oldest observations and texts are forgotten; if rewards alone are too many, the agent can't come back.
MAX_KEPT_MESSAGES: Final = 4096
MAX_KEPT_BYTES: Final = 4 * 1024 * 1024
