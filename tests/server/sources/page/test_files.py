import asyncio
import io
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from pluriverse_server.process import StartError
from pluriverse_server.sources.page import files as page_files
from pluriverse_server.sources.page.files import HOST, MAX_BODY_BYTES, Files
from yarl import URL


@asynccontextmanager
async def served(folder: Path, serve: Path | None = None) -> AsyncGenerator[Files]:
    files = Files(folder, serve)
    files.home = folder.parent
    await files.start()
    try:
        yield files
    finally:
        await files.stop()


async def get(files: Files, path: str, host: str = HOST) -> tuple[int, str, bytes]:
    """Status, type and content of an answer."""
    async with aiohttp.ClientSession() as client:
        url = URL(f"http://127.0.0.1:{files.port}{path}", encoded=True)
        async with client.get(url, headers={"Host": host}) as answer:
            return answer.status, answer.headers.get("Content-Type", ""), await answer.read()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.html").write_text("secret")
    www = tmp_path / "www"
    (www / "sub").mkdir(parents=True)
    (www / "sub/a page.html").write_text("hello")
    for name in ("a.js", "a.wasm", "a.swf", "a.unknown", "B.HTML"):
        (www / name).write_text("x")
    (www / "inside.html").symlink_to("sub/a page.html")
    (www / "outside.html").symlink_to("../secret.html")
    (www / "up").symlink_to("..")
    return www


async def test_files_are_served_with_their_types_and_to_no_other_hosts_pages(folder: Path) -> None:
    pages = ("/sub/a%20page.html?x=1", "/inside.html", "/B.HTML")
    types = dict.fromkeys(pages, "text/html; charset=utf-8") | {
        "/a.js": "text/javascript; charset=utf-8",
        "/a.wasm": "application/wasm",
        "/a.swf": "application/x-shockwave-flash",
        "/a.unknown": "application/octet-stream",
    }
    async with served(folder) as files:
        assert {path: (await get(files, path))[:2] for path in types} == {
            path: (200, content_type) for path, content_type in types.items()
        }
        for host in ("127.0.0.1", "evil.test"):
            assert (await get(files, "/a.js", host=host))[0] == 403


async def test_nothing_outside_the_folder_is_served_and_no_folder_listed(folder: Path) -> None:
    async with served(folder) as files:
        for path in (
            *("/", "/sub", "/sub/", "/none.html", "/outside.html", "/up/secret.html", "/../secret.html", "/a.js/x"),
            *("/%2e%2e/secret.html", "/..%2fsecret.html", "//etc/passwd", "/%2fetc/passwd", "/%00", "/" + "x" * 5000),
        ):
            status, _, content = await get(files, path)
            assert status in (400, 403, 404), path
            assert b"secret" not in content, path


def test_what_is_not_there_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StartError, match=f"no folder {tmp_path / 'vendor'}"):
        Files(tmp_path / "vendor").require("page.html")
    files = Files(folder)
    files.require("sub/a%20page.html?x=1#y")
    with pytest.raises(StartError, match=rf"page\.start: there is no file {folder}/none\.html"):
        files.require("none.html?x=1")


SERVE = """
from pluriverse_server.kit import PageResponse


def respond(request, home):
    if request.path == "/sent":
        with (home / "sent").open("a") as sent:
            sent.write(f"{request.method} {request.form} {dict(request.query)} {dict(request.cookies)}")
        return PageResponse(status=303, headers={"Location": "/seen"})
    if request.path == "/seen":
        return (home / "sent").read_text()
    if request.path == "/broken":
        raise ValueError("no")
    if request.path == "/slow":
        return (home / "fifo").read_text()
"""


@pytest.fixture
def serve(tmp_path: Path) -> Path:
    (tmp_path / "serve.py").write_text(SERVE)
    return tmp_path / "serve.py"


async def test_what_is_no_file_is_answered_by_the_runtimes_own_code(folder: Path, serve: Path) -> None:
    async with served(folder, serve) as files, aiohttp.ClientSession() as client:
        files.require("http://page.localhost/seen")
        url = f"http://127.0.0.1:{files.port}"
        named = {"Host": HOST, "Cookie": "who=me"}
        async with client.post(f"{url}/sent?a=1", data={"town": "Ulm"}, headers=named, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, "/seen")
        status, kind, body = await get(files, "/seen")
        assert (status, kind) == (200, "text/html; charset=utf-8")
        assert body.decode() == "POST {'town': 'Ulm'} {'a': '1'} {'who': 'me'}"
        assert (await get(files, "/a.js"))[2] == b"x"
        assert (await get(files, "/nothing"))[0] == 404
        assert files.answered == 5
        assert not files.busy


async def test_code_that_fails_is_answered_with_its_line(folder: Path, serve: Path) -> None:
    async with served(folder, serve) as files:
        status, kind, body = await get(files, "/broken")
        assert (status, kind) == (500, "text/plain; charset=utf-8")
        assert body.decode().endswith("serve.py, line 13: ValueError: no")
        too_much = b"x" * (MAX_BODY_BYTES + 1)
        async with aiohttp.ClientSession() as client:
            url = f"http://127.0.0.1:{files.port}/sent"
            async with client.post(url, data=io.BytesIO(too_much), headers={"Host": HOST}) as answer:
                assert answer.status == 413


async def test_code_that_takes_too_long_holds_up_nobody(
    folder: Path, serve: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder.parent / "fifo")
    async with served(folder, serve) as files:
        with monkeypatch.context() as soon:
            soon.setattr(page_files, "RESPOND_S", 0.1)
            status, _, body = await get(files, "/slow")
        nothing, _, _ = await get(files, "/nothing")
        # Its thread ends.
        await asyncio.to_thread((folder.parent / "fifo").write_text, "")
    assert (status, body.decode()) == (500, f"{serve}: respond took longer than 0.1 s")
    assert nothing == 404


async def test_files_alone_are_read_and_not_written(folder: Path) -> None:
    async with served(folder) as files, aiohttp.ClientSession() as client:
        url = f"http://127.0.0.1:{files.port}/a.js"
        async with client.post(url, headers={"Host": HOST}) as answer:
            assert answer.status == 405


async def test_what_is_being_answered_ends_before_its_home_is_left(folder: Path, serve: Path) -> None:
    os.mkfifo(folder.parent / "fifo")
    async with served(folder, serve) as files:
        answer = asyncio.create_task(get(files, "/slow"))
        fifo = await asyncio.to_thread((folder.parent / "fifo").open, "w")
        leaving = asyncio.create_task(files.leave_home())
        await asyncio.sleep(0)
        assert not leaving.done()
        fifo.close()
        await leaving
        assert (await answer)[0] == 200
        assert (await get(files, "/slow"))[0] == 404
