from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pluriverse_server.sources.reading import SourceError
from pluriverse_server.sources.screen.images import open_png


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(place=st.integers(0, 400), octets=st.binary(min_size=1, max_size=8))
def test_a_damaged_file_is_opened_or_refused_in_words(place: int, octets: bytes, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    Image.linear_gradient("L").resize((40, 40)).save(path)
    whole = bytearray(path.read_bytes())
    whole[place : place + len(octets)] = octets
    path.write_bytes(whole)
    try:
        open_png(path, "over", "draw it")
    except SourceError as error:
        assert str(error).startswith("over: ")  # noqa: PT017 - that it opens is as good
        assert str(error).endswith("; draw it")  # noqa: PT017


def test_a_folder_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=f"over: {tmp_path} can't be read"):
        open_png(tmp_path, "over", "draw it")
