from pathlib import Path

import pytest
from pluriverse_server.manifest.page import PageTable, origin_of
from pluriverse_server.manifest.runtime import EnvTable, ManifestError, fill_address, load

VALID = """
[runtime]
id = "toy"
version = "1.2.3"
title = "A toy"
default_env = "toy.First-v0"
[reset]
by = "page"
[page]
files = "www"
start = "game.html?level={env.level}"
[[rewards]]
source = "page"
value = "game.score"
[[envs]]
id = "toy.First-v0"
level = 3
"""


def complaint(directory: Path, before: str, after: str) -> str:
    """What is said of the manifest with a part of it changed."""
    assert VALID.count(before) == 1
    (directory / "runtime.toml").write_text(VALID.replace(before, after))
    with pytest.raises(ManifestError) as refused:
        load(directory)
    return str(refused.value).removeprefix(f"{directory / 'runtime.toml'}: ")


def test_least_manifest_of_a_page_has_the_defaults_that_are_documented(tmp_path: Path) -> None:
    (tmp_path / "runtime.toml").write_text(VALID)
    manifest = load(tmp_path)
    assert manifest.page == PageTable(files="www", start="game.html?level={env.level}")
    assert manifest.page is not None
    assert manifest.page.fresh == "context"
    assert manifest.page.ready_timeout_s == 10
    assert manifest.rewards[0].give == "change"
    assert manifest.program is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('files = "www"', "", "page: expected either files and start, or url"),
        ("{env.level}", "{level}", "page.start: unknown placeholder {level}; known: {env}"),
        ('files = "www"', 'files = "www"\norigins = ["https://a.org/"]', "page.origins: expected origins such as"),
        (
            'source = "page"\nvalue = "game.score"',
            'source = "reports"',
            'the file: expected rewards of source = "page"',
        ),
        ('by = "page"', 'by = "report"', "the file: expected [page] with reset.by"),
        ("[page]", '[program]\ncommand = ["a"]\n[page]', "the file: expected [page] with reset.by"),
    ],
)
def test_mistake_is_named_with_its_key(tmp_path: Path, before: str, after: str, expected: str) -> None:
    assert complaint(tmp_path, before, after).startswith(expected)


@pytest.mark.parametrize("url", ["ftp://example.org/", "example.org", "https:///a", "https://{env.host}/", "file:///a"])
def test_address_that_is_not_of_the_web_is_refused(tmp_path: Path, url: str) -> None:
    line = complaint(tmp_path, 'files = "www"\nstart = "game.html?level={env.level}"', f'url = "{url}"')
    assert line.startswith("page.url: expected an address such as https://example.org/play, its host written out")


def test_address_is_filled_with_quoted_values() -> None:
    entry = EnvTable.model_validate({"id": "toy.A-v0", "level": "1 & 2/3"})
    page = PageTable(files="www", start="{env}.html?level={env.level}&seed={seed}&fps={fps}")
    assert fill_address(page, entry, seed=7, fps=50.0) == "toy.A-v0.html?level=1%20%26%202/3&seed=7&fps=50.0"
    with pytest.raises(ManifestError, match=r"environment 'b' lacks the key 'env.level' that page\.start asks for"):
        fill_address(page, EnvTable(id="b"), seed=7, fps=50.0)


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("HTTPS://Example.org:443/a?b#c", "https://example.org"),
        ("http://[::1]:80/", "http://[::1]"),
        ("http://user:password@example.org/", "http://example.org"),
        ("http://example.org:no/", None),
        ("about:blank", None),
    ],
)
def test_origin_of_an_address(address: str, origin: str | None) -> None:
    assert origin_of(address) == origin
