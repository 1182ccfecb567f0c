"""Film ``pluriverse demo``, and picture one viewer (``make film``): writes docs/demo.webp and docs/viewer.png."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import sys
import tempfile
import threading
from pathlib import Path
from typing import Final

from PIL import Image
from pluriverse import demo
from support.chromium import Chromium

FILM: Final = Path(__file__).with_name("demo.webp")
SIZE: Final = (860, 880)
PICTURE: Final = Path(__file__).with_name("viewer.png")
PICTURE_SIZE: Final = (1280, 800)
SECONDS: Final = 6
FPS: Final = 8
QUALITY: Final = 50

# Until the viewers show their games, which begin with titles and waits.
BEGIN_S: Final = 12.0


async def shots(address: str, folder: Path) -> list[Image.Image]:
    """Return what a browser shows of the page, and at last of the second game's viewer."""
    browser = await Chromium.start(folder, width=SIZE[0], height=SIZE[1], flags=["--hide-scrollbars"])

    async def shot() -> Image.Image:
        taken = await browser.call("Page.captureScreenshot", format="png")
        return Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")

    try:
        await browser.open(address)
        await asyncio.sleep(BEGIN_S)
        pictures: list[Image.Image] = []
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(SECONDS * FPS):
            await asyncio.sleep(max(0.0, began + number / FPS - loop.time()))
            pictures.append(await shot())
        viewer = await browser.evaluate("document.querySelectorAll('iframe')[1].src")
        await browser.resize(*PICTURE_SIZE)
        await browser.open(viewer.replace("embed=1&", ""))
        await asyncio.sleep(BEGIN_S)
        return [*pictures, await shot()]
    finally:
        await browser.close()


def main() -> int:
    """Play, film and write."""
    said: list[str] = []
    ready = threading.Event()

    def report(line: str) -> None:
        said.append(line)
        ready.set()

    seconds = 2 * BEGIN_S + 10 * SECONDS  # on a slow machine the browser takes some of them
    player = threading.Thread(
        target=demo.play, args=("local:1",), kwargs={"port": 0, "seconds": seconds, "report": report}
    )
    player.start()
    ready.wait()
    (address,) = re.findall(r"http://\S+", said[0])
    with tempfile.TemporaryDirectory() as folder:
        first, *others, viewer = asyncio.run(shots(address, Path(folder)))
    player.join()
    viewer.save(PICTURE, optimize=True)
    first.save(FILM, save_all=True, append_images=others, duration=1000 // FPS, loop=0, quality=QUALITY, method=6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
