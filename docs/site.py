"""What the site has beside docs/, as a hook of MkDocs: README, CHANGELOG, runtimes, notebooks, examples, reference."""

from __future__ import annotations

import ast
import html
import posixpath
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gallery import FAMILIES
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from pluriverse_server.manifest.runtime import load
from pluriverse_server.sources.task import Assignment
from traitlets.config import Config

ROOT: Final = Path(__file__).parent.parent

# The public modules.
MODULES: Final = (
    "pluriverse",
    "pluriverse.wrappers",
    "pluriverse.adapters.gymnasium",
    "pluriverse.adapters.dm_env",
    "pluriverse.adapters.envpool",
    "pluriverse.adapters.alf",
    "pluriverse.adapters.computer",
    "pluriverse.testing",
    "pluriverse_server.kit",
)

LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)#:\s]+)(#[^)]*)?\)")

# Pages of the site by the files of the repository that they are made of.
_pages: dict[str, str] = {}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages; decide what the lists of the navigation hold."""
    _pages.update({f"docs/{file.src_uri}": file.src_uri for file in files if not file.inclusion.is_excluded()})
    made = dict(_made())
    _pages.update({source: page for page, (source, _) in made.items() if source})
    for page, (_, text) in made.items():
        files.append(File.generated(config, page, content=text))
    pages = sorted(file.src_uri for file in files.documentation_pages())
    for section in config["nav"]:
        for name, entries in section.items():
            section[name] = [page for entry in entries for page in _expanded(entry, pages)]
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links to the files of the repository to their pages; what has none is named."""
    source = next((source for source, made in _pages.items() if made == page.file.src_uri), page.file.src_uri)

    def led(link: re.Match[str]) -> str:
        picture, text, target, anchor = link[1], link[2], link[3], link[4] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path in _pages:
            here = posixpath.dirname(page.file.src_uri) or "."
            return f"{picture}[{text}]({posixpath.relpath(_pages[path], here)}{anchor})"
        return link[0] if not (ROOT / path).exists() else f"{text} (`{path}`)"

    return LINK.sub(led, markdown)


def _made() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the pages that aren't in docs/, with the file that each is made of, and its text."""
    readmes = {"README.md": "index.md", "bench/README.md": "bench.md"}
    readmes |= {name: name.lower() for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
    readmes |= {f"runtimes/{path.name}/README.md": f"environments/{path.name}.md" for path in ROOT.glob("runtimes/*")}
    for source, page in readmes.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if page.startswith("environments/"):
            text += _pictures(Path(page).stem) + _tasks(ROOT / Path(source).parent)
        yield page, (source, text)
    yield from _notebooks()
    for path in sorted(ROOT.glob("examples/*.py")):
        code = path.read_text(encoding="utf-8")
        yield f"examples/{path.stem}.md", (f"examples/{path.name}", f"# {path.name}\n\n```python\n{code}```\n")
    for module in MODULES:
        yield (
            f"reference/{module}.md",
            ("", f"# {module}\n\n::: {module}\n    options:\n      show_root_heading: false\n"),
        )
    table = re.search(
        r"<!-- begin runtimes -->\n(.*?)<!-- end", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert table is not None
    text = "# Environments\n\n" + re.sub(r"runtimes/([^/]+)/README.md", r"\1.md", table[1])
    yield "environments/index.md", ("", text + _pictures(""))


def _pictures(beginning: str) -> str:
    """Return the families of environments whose names begin so, each with its picture."""
    return "".join(
        f"\n## {title}\n\n![{title}, each played for some seconds](../gallery/{name}.webp)\n"
        for name, (title, _) in FAMILIES.items()
        if name.startswith(beginning) and (ROOT / f"docs/gallery/{name}.webp").exists()
    )


def _tasks(folder: Path) -> str:
    """Return the tasks of a runtime as seed 0 sets them up, each with the picture that it begins with."""
    manifest = load(folder)
    text = file = ""
    for entry in manifest.envs:
        source = manifest.game(entry.id).task
        if source is None:
            continue
        if source.file != file:
            file = source.file
            about = ast.get_docstring(ast.parse((folder / file).read_text(encoding="utf-8")))
            text += (
                f"\n## {Path(file).stem}\n\n{about}\n\n| | task | split | difficulty |\n| --- | --- | --- | ---: |\n"
            )
        with tempfile.TemporaryDirectory() as home:
            made = Assignment(source, folder, entry.id, Path(home))
            made.set_up(0)
        picture = f"![{entry.id}](../gallery/tasks/{entry.id}.webp){{ width=320 loading=lazy }}"
        words = re.sub(r"([\\`*_{}\[\]|])", r"\\\1", html.escape(made.words, quote=False)).replace("\n", "<br>")
        text += f"| {picture} | `{entry.id}`<br>{words} | {made.task.split} | {made.task.difficulty} |\n"
    return text


def _notebooks() -> Iterator[tuple[str, tuple[str, str]]]:
    """Run the notebooks, and yield them with what they show."""
    options = {
        "CoalesceStreamsPreprocessor": {"enabled": True},
        "ExecutePreprocessor": {"enabled": True, "extra_arguments": ["--log-level=ERROR"]},
        "ExtractOutputPreprocessor": {"enabled": False},
    }
    exporter = MarkdownExporter(config=Config(options))
    for path in sorted(ROOT.glob("docs/notebooks/*.ipynb")):
        text, _ = exporter.from_filename(str(path))
        text += f'\n<a href="{path.name}" download>Download this notebook</a>\n'
        yield f"notebooks/{path.stem}.md", (f"docs/notebooks/{path.name}", text)


def _expanded(entry: str, pages: list[str]) -> list[str]:
    folder, star, _ = entry.partition("*")
    return [page for page in pages if page.startswith(folder)] if star else [entry]
