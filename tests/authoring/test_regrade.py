import shutil
from pathlib import Path

import pytest
from pluriverse.adapters.computer import Type, Wait
from pluriverse_authoring.score import score
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from pluriverse_server.task import chance, load_tasks
from support.evaluated import task
from support.remotes import ROOT, on_machine
from support.typing_tasks import TASKS, write_tasks

pytestmark = [pytest.mark.slow, pytest.mark.display]


@pytest.mark.parametrize(("name", "mode"), [("TypeWord", "paused"), ("TypeWord", "live"), ("TypeInTime", "paused")])
def test_a_recorded_task_is_graded_again_by_what_its_check_looked_at(
    name: str, mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_tasks(tmp_path / "typing")
    recordings = [tmp_path / f"{done}.plrec" for done in ("done", "half")]
    (how,) = parse_modes(mode)
    with (
        on_machine(runtime=str(directory)) as remote,
        Play(task(env=f"typing.{name}-v0", seconds=20), how, remote.address) as play,
    ):
        for recording, letters in zip(recordings, (6, 3), strict=True):
            play.start(3, how, recording)
            play.do(Type(play.text.removeprefix("Type ")[:letters]))
            play.do(Wait(0.5))
            if name == "TypeWord":
                play.submit()
            while not play.over:
                play.send([])
            play.finish()
    assert score(directory, recordings) == 0
    assert capsys.readouterr().out == "done.plrec: graded as it was\nhalf.plrec: graded as it was\n"
    laxer = write_tasks(tmp_path / "laxer", TASKS.replace('== p["word"]', '== p["word"][:3]'))
    assert score(laxer, recordings) == 1
    printed = capsys.readouterr().out
    assert printed == "done.plrec: earned 1, would earn 0 now\nhalf.plrec: earned 0, would earn 1 now\n"


@pytest.mark.browser
def test_a_recorded_task_of_a_page_is_graded_again_by_its_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shop, env_id = ROOT / "runtimes/tasks-web", "tasks-web.ShopOrder-v0"
    order = load_tasks(shop / "shop.py")["ShopOrder"]
    (tmp_path / "home").mkdir()
    p = order.setup(chance(env_id, 3), tmp_path / "home")
    recordings = [tmp_path / f"{done}.plrec" for done in ("done", "not")]
    (how,) = parse_modes("paused")
    with on_machine(runtime=str(shop)) as remote, Play(task(env=env_id, seconds=120), how, remote.address) as play:
        for recording in recordings:
            play.start(3, how, recording)
            if recording.stem == "done":
                order.oracle(p, play)
            play.submit()
            play.finish()
    assert score(shop, recordings) == 0
    assert capsys.readouterr().out == "done.plrec: graded as it was\nnot.plrec: graded as it was\n"
    changed = shutil.copytree(shop, tmp_path / "changed")
    with (changed / "shop.py").open("a") as file:
        file.write("\nkept = ShopOrder.check\nShopOrder.check = lambda self, p, look: 1 - kept(self, p, look)\n")
    assert score(changed, recordings) == 1
    assert capsys.readouterr().out == "done.plrec: earned 1, would earn 0 now\nnot.plrec: earned 0, would earn 1 now\n"
