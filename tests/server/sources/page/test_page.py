"""Nothing leaks from one episode to the next, however it begins: a page that stores what it can says what it finds."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from support.pages import PageRemote, page_remote, short_folder, write_runtime

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

# Says what it finds in each place where a page can leave something, then leaves something in each.
HOARDER = """<body><script>
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = request.onblocked = () => reject(request.error);
});
const opened = () => {
  const request = indexedDB.open("hoard", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("all");
  return done(request);
};
async function found() {
  const database = await opened();
  const stored = await done(database.transaction("all").objectStore("all").get("key"));
  database.close();
  const files = await Array.fromAsync((await navigator.storage.getDirectory()).keys());
  return [
    document.cookie, localStorage.getItem("key"), sessionStorage.getItem("key"), stored ?? null, await caches.keys(),
    files, (await navigator.serviceWorker.getRegistrations()).length,
  ];
}
async function hoard() {
  document.cookie = "key=value; max-age=3600";
  localStorage.setItem("key", "value");
  sessionStorage.setItem("key", "value");
  const database = await opened();
  await done(database.transaction("all", "readwrite").objectStore("all").put("value", "key"));
  database.close();
  await (await caches.open("hoard")).put("/key", new Response("value"));
  await (await navigator.storage.getDirectory()).getFileHandle("key", { create: true });
  await navigator.serviceWorker.register("worker.js");
  await navigator.serviceWorker.ready;
}
async function play() {
  try {
    const first = await found();
    await hoard();
    game.state = [first, await found()];
  } catch (error) {
    game.state = String(error);
  }
  game.begin(0);
}
// What a page does as it leaves must not be found either.
addEventListener("pagehide", () => {
  localStorage.setItem("key", "left");
  sessionStorage.setItem("key", "left");
  document.cookie = "key=left";
});
</script>"""

NOTHING: list[Any] = ["", None, None, None, [], [], 0]
ALL: list[Any] = ["key=value", "value", "value", "value", ["hoard"], ["key"], 1]
KINDS = {
    "a new context": 'fresh = "context"',
    "the same page": 'fresh = "page"',
    "in the page": 'begin = "play()"',
}
KEPT = ["a new context", *(pytest.param(kind, marks=pytest.mark.slow) for kind in list(KINDS)[1:])]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=KEPT)
async def remote(request: pytest.FixtureRequest) -> AsyncGenerator[PageRemote]:
    in_page = request.param == "in the page"
    place = 'files = "www"\nstart = "{env.page}.html"'
    with short_folder() as folder:
        page = HOARDER if in_page else f"{HOARDER}<script>play()</script>"
        write_runtime(folder, {"Hoarder": page}, KINDS[request.param], place=place)
        (folder / "www/worker.js").write_text("onfetch = () => {}")
        async with page_remote(folder) as remote:
            yield remote


async def test_nothing_is_found_that_an_earlier_episode_left(remote: PageRemote) -> None:
    for _ in range(2):
        await remote.play("Hoarder")
        said = await remote.agent.hear_method("v0.env.observation")
        assert said["body"]["observation"] == [NOTHING, ALL]
