"""Pictures of a screen, compressed for a model."""

from __future__ import annotations

import io
from typing import Final, Literal

import numpy as np
import simplejpeg  # pyright: ignore[reportMissingTypeStubs]
from PIL import Image as Pillow

from pluriverse.adapters.pictures import Pixels
from pluriverse.rfb import Region
from pluriverse.rfb.decoder import make_picture
from pluriverse.rfb.picture import PictureSpec

from .answer import Image
from .view import View

Format = Literal["png", "jpeg"]

JPEG_QUALITY: Final = 80

# zlib's run lengths alone: on pictures of programs quicker than its usual search, and half as large.
Z_RLE: Final = 3


def shown(screen: Pixels, view: View) -> Pixels:
    """Return a view of a screen, uint8 (height, width, 3), RGB, of shape (view.height, view.width, 3)."""
    return make_picture(screen, PictureSpec(Region(*view.box), (view.height, view.width)))


def compress(picture: Pixels, format: Format) -> Image:  # noqa: A002 - what Pillow calls it
    """Return a picture, uint8 (height, width, 3), RGB, as a file."""
    picture = np.ascontiguousarray(picture)
    if format == "jpeg":
        return Image(simplejpeg.encode_jpeg(picture, JPEG_QUALITY, "RGB"), "image/jpeg")
    file = io.BytesIO()
    Pillow.fromarray(picture).save(file, "PNG", compress_type=Z_RLE)
    return Image(file.getvalue(), "image/png")
