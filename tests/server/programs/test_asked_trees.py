"""Trees that a scraper is asked for: each who asks gets its own, or the reason why there is none."""

import asyncio

import pytest
from pluriverse_protocol.reports import ReadTree, TreeRead
from pluriverse_protocol.tree import Node
from pluriverse_server.programs import asked_trees
from pluriverse_server.programs.asked_trees import AskedTrees
from pluriverse_server.sources.trees import NoTree, Tree

PICTURE = (0, 0, 10, 10)


async def test_each_gets_the_answer_to_its_own_number() -> None:
    sent: list[ReadTree] = []
    trees = AskedTrees(sent.append)
    asking = [asyncio.create_task(trees.ask(PICTURE)) for _ in range(2)]
    await asyncio.sleep(0)
    assert [asked.picture for asked in sent] == [PICTURE] * 2
    node = Node("button", PICTURE)
    trees.answered(TreeRead(1, 99))
    trees.answered(TreeRead(1, sent[1].number, (node,), 3))
    trees.answered(TreeRead(1, sent[0].number, error="the program doesn't answer"))
    assert await asking[1] == Tree((node,), 3)
    with pytest.raises(NoTree, match="doesn't answer"):
        await asking[0]


async def test_a_scraper_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_trees, "TREE_S", 0.01)
    with pytest.raises(NoTree, match=r"within 0\.01 s"):
        await AskedTrees(lambda _: None).ask(PICTURE)
