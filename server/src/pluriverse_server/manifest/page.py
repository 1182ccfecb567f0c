"""``[page]`` of runtime.toml: a web page, and the expressions that give its rewards, end and text. Pure."""

from __future__ import annotations

from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from .key_combinations import CombinationText
from .table import Name, Table, Template

Permission = Literal["popups", "dialogs", "downloads", "menus"]

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

# Enough for a page of a hundred pixels to fill any screen.
MAX_ZOOM: Final = 8

Expression = Annotated[str, Field(min_length=1, max_length=16 * 1024)]


class PageTable(Table):
    """A page, by ``url`` or by ``files`` and ``start``. Expressions are JavaScript, evaluated in the page.

    ``serve``: a Python file that answers what isn't among the files.
    """

    files: Name | None = None
    start: Template | None = None
    serve: Name | None = None
    url: Template | None = None
    origins: list[str] = []
    script: Name | None = None
    allow: list[Permission] = []
    keys: list[CombinationText] = []
    fresh: Literal["context", "page"] = "context"
    ready_timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    begin: Expression | None = None
    ready: Expression | None = None
    done: Expression | None = None
    truncated: Expression | None = None
    text: Expression | None = None
    observation: Expression | None = None
    picture: Expression | None = None
    zoom: Annotated[int, Field(ge=1, le=MAX_ZOOM)] = 1

    @field_validator("url")
    @classmethod
    def _of_the_web(cls, url: str | None) -> str | None:
        if url is not None and origin_of(url) is None:
            raise ValueError("expected an address such as https://example.org/play, its host written out")
        return url

    @field_validator("origins")
    @classmethod
    def _just_origins(cls, origins: list[str]) -> list[str]:
        for origin in origins:
            if origin_of(origin) != origin:
                raise ValueError("expected origins such as https://example.org, without a path")
        return origins

    @model_validator(mode="after")
    def _one_place(self) -> PageTable:
        places = (self.files is not None, self.start is not None, self.url is not None)
        if places not in ((True, True, False), (False, False, True)):
            raise ValueError("expected either files and start, or url")
        if self.serve is not None and self.files is None:
            raise ValueError("expected serve with files")
        return self


def origin_of(address: str) -> str | None:
    """Return an http(s) address's scheme, host and port as browsers write origins; None for any other address."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "{" in parts.netloc:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{port}")
