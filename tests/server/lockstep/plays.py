"""Plays the tone in a file by the library that is named: 16-bit samples, left and right, of 44,100 frames a second."""

import ctypes
import sys
from ctypes import byref, c_char_p, c_int, c_long, c_uint, c_uint8, c_uint16, c_uint32, c_ulong, c_void_p
from pathlib import Path

FRAME_BYTES = 4
PART_BYTES = FRAME_BYTES * 1000


def alsa(tone: bytes) -> None:
    alsa = ctypes.CDLL("libasound.so.2")
    alsa.snd_pcm_writei.argtypes, alsa.snd_pcm_writei.restype = [c_void_p, c_char_p, c_ulong], c_long
    pcm = c_void_p()
    assert alsa.snd_pcm_open(byref(pcm), b"default", 0, 0) == 0
    assert alsa.snd_pcm_set_params(pcm, 2, 3, 2, 44100, 1, 100_000) == 0
    for at in range(0, len(tone), PART_BYTES):
        part = tone[at : at + PART_BYTES]
        assert alsa.snd_pcm_writei(pcm, part, len(part) // FRAME_BYTES) == len(part) // FRAME_BYTES
    assert alsa.snd_pcm_drain(pcm) == 0
    assert alsa.snd_pcm_close(pcm) == 0


class Spec(ctypes.Structure):
    """``SDL_AudioSpec``."""

    _fields_ = [
        *(("freq", c_int), ("format", c_uint16), ("channels", c_uint8), ("silence", c_uint8), ("samples", c_uint16)),
        *(("padding", c_uint16), ("size", c_uint32), ("callback", c_void_p), ("userdata", c_void_p)),
    ]


def sdl(tone: bytes) -> None:
    sdl = ctypes.CDLL("libSDL2-2.0.so.0")
    assert sdl.SDL_Init(0x10) == 0
    device = sdl.SDL_OpenAudioDevice(None, 0, byref(Spec(44100, 0x8010, 2, 0, 1024)), None, 0)
    assert device
    assert sdl.SDL_QueueAudio(device, tone, len(tone)) == 0
    sdl.SDL_PauseAudioDevice(device, 0)
    while sdl.SDL_GetQueuedAudioSize(device):
        sdl.SDL_Delay(10)
    # What the card has of it is still to be played.
    sdl.SDL_Delay(200)
    sdl.SDL_Quit()


def openal(tone: bytes) -> None:
    openal = ctypes.CDLL("libopenal.so.1")
    openal.alcOpenDevice.restype = openal.alcCreateContext.restype = c_void_p
    openal.alcCreateContext.argtypes = [c_void_p, c_void_p]
    openal.alcMakeContextCurrent.argtypes = [c_void_p]
    context = openal.alcCreateContext(openal.alcOpenDevice(None), None)
    assert openal.alcMakeContextCurrent(context)
    buffer, source, state = c_uint(), c_uint(), c_int()
    openal.alGenBuffers(1, byref(buffer))
    openal.alBufferData(buffer, 0x1103, tone, len(tone), 44100)
    openal.alGenSources(1, byref(source))
    openal.alSourcei(source, 0x1009, buffer)
    openal.alSourcePlay(source)
    libc = ctypes.CDLL(None)
    state.value = 0x1012
    while state.value == 0x1012:
        libc.usleep(10_000)
        openal.alGetSourcei(source, 0x1010, byref(state))
    libc.usleep(200_000)


{"alsa": alsa, "sdl": sdl, "openal": openal}[sys.argv[1]](Path(sys.argv[2]).read_bytes())
