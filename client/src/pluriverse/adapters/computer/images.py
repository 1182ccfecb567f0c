"""Pictures of a screen for a model."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

import numpy as np
import simplejpeg  # pyright: ignore[reportMissingTypeStubs]
from PIL import Image as Pillow

from pluriverse.adapters.pictures import Pixels
from pluriverse.rfb import Region
from pluriverse.rfb.decoder import make_picture
from pluriverse.rfb.picture import PictureSpec

from .view import View

Format = Literal["png", "jpeg"]

JPEG_QUALITY: Final = 80

# zlib's run lengths alone: on pictures of programs quicker than its usual search, and half as large.
Z_RLE: Final = 3


def shown(screen: Pixels, view: View) -> Pixels:
    """Return a view of a screen, uint8 RGB of shape (view.height, view.width, 3), which outlasts the screen."""
    picture = make_picture(screen, PictureSpec(Region(*view.box), (view.height, view.width)))
    return picture.copy() if np.may_share_memory(picture, screen) else picture


@dataclass(frozen=True, eq=False)
class Image:
    """A picture, uint8 (height, width, 3), RGB. It is compressed when its file is first asked for."""

    pixels: Pixels = field(repr=False)
    format: Format = "png"

    @property
    def media_type(self) -> str:
        return f"image/{self.format}"

    def pil(self) -> Pillow.Image:
        """The picture for Pillow."""
        return Pillow.fromarray(np.ascontiguousarray(self.pixels))

    def data_url(self) -> str:
        """The picture's file as a URL, as models of OpenAI's kind take it."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"

    @cached_property
    def data(self) -> bytes:
        """The picture as a file."""
        if self.format == "jpeg":
            return simplejpeg.encode_jpeg(np.ascontiguousarray(self.pixels), JPEG_QUALITY, "RGB")
        file = io.BytesIO()
        self.pil().save(file, "PNG", compress_type=Z_RLE)
        return file.getvalue()
