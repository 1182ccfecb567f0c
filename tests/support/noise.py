"""What a program plays beside what else it does: noise of a rate and in as many channels as the card hasn't."""

NOISE = """
import ctypes, random, threading

def play():
    alsa, pcm = ctypes.CDLL("libasound.so.2"), ctypes.c_void_p()
    assert alsa.snd_pcm_open(ctypes.byref(pcm), b"default", 0, 0) == 0
    assert alsa.snd_pcm_set_params(pcm, 2, 3, 1, 22050, 1, 100_000) == 0
    chance = random.Random(random.randrange(1 << 30))
    while alsa.snd_pcm_writei(pcm, chance.randbytes(2 * 441), ctypes.c_ulong(441)) > 0:
        pass

threading.Thread(target=play, daemon=True).start()
"""
