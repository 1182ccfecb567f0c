"""Opens a runtime's PNG files, with errors that name the problem."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PIL import Image, UnidentifiedImageError

from pluriverse_server.sources.reading import SourceError

# A glyph file has some kilobytes, a template of a whole screen one megabyte.
MAX_FILE_BYTES: Final = 8 << 20

# A screen of 4096x2160 pixels, 32 MB unpacked; compressed it may be tiny.
MAX_PIXELS: Final = 4096 * 2160


def open_png(path: Path, name: str, remedy: str) -> Image.Image:
    """Open and unpack a PNG. ``name`` is the source's, ``remedy`` how to make such a file; both for the error."""
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise SourceError(f"{name}: {path} has {size} bytes, expected at most {MAX_FILE_BYTES}; {remedy}")
        with path.open("rb") as file:
            image = Image.open(file, formats=("PNG",))
            if image.width * image.height > MAX_PIXELS:
                raise SourceError(
                    f"{name}: {path} has {image.width}x{image.height} pixels, expected at most {MAX_PIXELS} of them; "
                    f"{remedy}"
                )
            image.load()
    except FileNotFoundError:
        raise SourceError(f"{name}: there is no {path}; {remedy}") from None
    except UnidentifiedImageError:
        raise SourceError(f"{name}: {path} isn't a PNG file; {remedy}") from None
    # What Pillow raises for damaged files.
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SourceError(f"{name}: {path} can't be read ({error}); {remedy}") from None
    return image
