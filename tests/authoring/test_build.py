"""The image of a runtime that isn't shipped: what Docker gets, and with an engine, what comes of it."""

import io
import re
import tarfile
from pathlib import Path

import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring import build as build_module
from pluriverse_authoring.build import SOURCES, build, build_command, checkout, write_context
from pluriverse_authoring.init import init
from pluriverse_server.manifest.runtime import load

ROOT = Path(__file__).parents[2]
TAG = "pluriverse-test/my-game"


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """A runtime with more in its folder than an image needs."""
    directory = tmp_path / "somewhere"
    init("my-game", directory)
    (directory / "debian.txt").write_text("hello:hello\nmake:make build\n")
    for name in (
        "recordings/1.plrec",
        "__pycache__/game.pyc",
        ".git/HEAD",
        "vendor/fetched.js",
        "data/recordings/kept",
        "home/.config/game/settings",
    ):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("x")
    return directory


def context_of(directory: Path) -> list[str]:
    """The files that Docker gets."""
    stream = io.BytesIO()
    write_context(stream, ROOT, directory, "my-game")
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        assert all(entry.uid == entry.gid == 0 for entry in tar.getmembers())
        return [entry.name for entry in tar.getmembers() if entry.isfile()]


def test_docker_gets_the_sources_and_the_folder_without_what_is_made_elsewhere(runtime: Path) -> None:
    names = context_of(runtime)
    assert {name for name in names if name.startswith("runtimes/")} == {
        f"runtimes/my-game/{name}"
        for name in (
            "README.md",
            "data/recordings/kept",
            "debian.txt",
            "game.py",
            "glyphs/digits.png",
            "home/.config/game/settings",
            "pyproject.toml",
            "runtime.toml",
            "test_runtime.py",
        )
    }
    assert {"Dockerfile", "requirements.lock", "tools/vendor_assets.py", "protocol/pyproject.toml"} <= set(names)
    assert not any("__pycache__" in name or "static/vendor" in name or "node_modules" in name for name in names)
    assert not any("/." in name for name in names if not name.startswith("runtimes/"))


def test_all_that_the_dockerfile_copies_is_sent() -> None:
    stages = re.split(r"^(?=FROM )", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    image = "".join(stage for stage in stages if not stage.startswith("FROM build AS build-wheels"))
    copies = re.findall(r"^COPY (?!--from)(?:--\S+ )*(.+) \S+$", image, re.MULTILINE)
    copied = {word.rstrip("/") for copy in copies for word in copy.split() if not word.startswith("runtimes/")}
    assert "tools/entrypoint" in copied
    # Of a folder that is copied whole only some is needed, and what that is shows when it is used.
    whole = {str(parent) for name in SOURCES for parent in Path(name).parents}
    assert {
        path for path in copied - whole if not f"{path}/".startswith(tuple(f"{name}/" for name in SOURCES))
    } == set()


def test_tar_begins_with_a_file_since_that_is_how_docker_tells_it(runtime: Path) -> None:
    stream = io.BytesIO()
    write_context(stream, ROOT, runtime, "my-game")
    assert stream.getvalue()[:10] == b"Dockerfile"


@pytest.mark.parametrize(
    ("layer", "packages"),
    [
        ("server", "# hello:hello\nmake:make build\n"),
        ("programs", "/usr/games/chromium-bsu:chromium-bsu\n"),
        ("browser", "hello:hello\nchromium:chromium\n"),
    ],
)
def test_an_image_has_the_layer_that_its_debian_packages_need(runtime: Path, layer: str, packages: str) -> None:
    (runtime / "debian.txt").write_text(packages)
    command = build_command("docker", runtime, load(runtime), TAG)
    assert command[-1] == "-"
    assert {"RUNTIME=my-game", "VERSION=0.1.0", f"LAYER={layer}"} <= set(command)


def test_an_installed_package_says_where_the_sources_are_to_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checkout() == ROOT
    installed = tmp_path / "lib" / "python3" / "site-packages" / "pluriverse_authoring" / "build.py"
    monkeypatch.setattr(build_module, "__file__", str(installed))
    with pytest.raises(AuthoringError, match=r"built from a checkout .* lacks Dockerfile"):
        checkout()


def test_missing_docker_is_told_with_what_mends_it(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AuthoringError, match="apt-get install docker"):
        build(runtime, load(runtime), TAG)
