"""Trees that threads wait for: each gets its own answer, refusal, or word that none comes."""

import pytest
from pluriverse.errors import Misuse, RemoteFailed
from pluriverse.rewarder import asked_trees
from pluriverse.rewarder.asked_trees import Answer, AskedTrees
from pluriverse_protocol.messages import TreeReply

EMPTY = TreeReply(())


def test_each_gets_the_answer_to_its_own_message() -> None:
    asked, first, second = AskedTrees(), Answer(), Answer()
    asked.ask(1, first)
    asked.ask(2, second)
    asked.answered(2, TreeReply((), 2))
    asked.refused(1, "no episode runs")
    assert AskedTrees.wait(second).left_out == 2
    with pytest.raises(Misuse, match="no episode runs"):
        AskedTrees.wait(first)


def test_what_answers_nothing_is_passed_over() -> None:
    asked, answer = AskedTrees(), Answer()
    asked.ask(1, answer)
    asked.answered(None, EMPTY)
    asked.answered(7, EMPTY)
    asked.refused("x", "why")
    assert not answer.done()


def test_those_who_wait_are_told_that_the_line_broke() -> None:
    asked, answer = AskedTrees(), Answer()
    asked.ask(1, answer)
    asked.give_up("the line broke")
    asked.answered(1, EMPTY)
    with pytest.raises(RemoteFailed, match="the line broke"):
        AskedTrees.wait(answer)


def test_an_answer_that_comes_too_late_is_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_trees, "TREE_S", 0.01)
    asked, answer = AskedTrees(), Answer()
    asked.ask(1, answer)
    with pytest.raises(RemoteFailed, match="no tree within"):
        AskedTrees.wait(answer)
    asked.answered(1, EMPTY)
    asked.ask(2, Answer())
