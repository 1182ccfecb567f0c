"""Opens the pictures that a runtime brings along, small PNG files, and says what is wrong with one that can't be."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PIL import Image, UnidentifiedImageError

from pluriverse_server.sources.reading import SourceError

# A glyph file has some kilobytes, a template of a whole screen one megabyte.
MAX_FILE_BYTES: Final = 8 << 20

# A screen of 4096x2160 pixels; compressed they are next to nothing, unpacked 32 MB.
MAX_PIXELS: Final = 4096 * 2160


def open_png(path: Path, name: str, remedy: str) -> Image.Image:
    """A PNG, unpacked. ``name`` is the source's, and ``remedy`` what makes such a file; both for the error.

    Raises:
        SourceError: it is missing, no PNG, damaged or too large.
    """
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
        raise SourceError(f"{name}: {path} is no PNG file; {remedy}") from None
    # What Pillow raises at the many ways in which a file can be damaged.
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise SourceError(f"{name}: {path} can't be read ({error}); {remedy}") from None
    return image
