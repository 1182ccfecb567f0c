from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.conditions import MAX_CHARS, MAX_DEPTH, ConditionError, Value, holds, names_in

READ: dict[str, Value] = {"lives": 0, "score": 12.5, "menu": False, "won": True, "text": "Game Over", "empty": ""}


@pytest.mark.parametrize(
    "text",
    [
        *["lives == 0", "lives == 0 and not menu", "lives > 0 or won", "0 <= lives < 3", "score - lives * 2 == 12.5"],
        *["score / 2 > 6", "-score < 0", "text == 'Game Over'", 'text != "Won"', "text", "not empty", "won == True"],
        *["(lives or won) and (menu or won)", "not (menu or lives)", "True", "3", "'x'", "  won  ", "won + won == 2"],
        *["text > 'A'", "not not won", "1 < 2 < 3", "won and not menu and lives == 0", "not lives", "not False"],
    ],
)
def test_condition_that_holds_and_its_contrary_that_does_not(text: str) -> None:
    assert holds(text, READ) is True
    assert holds(f"not ({text})", READ) is False


@pytest.mark.parametrize(
    "text",
    [
        *["new", "new == 0", "new != 0", "new < 1 < 2", "-new < 5", "new + 1 > 0", "new and won", "new or menu"],
        *["lives / lives == 1", "text == 3", "text != 3", "text + 'x' == 'x'", "-text == 1", "text * 1000 == 0"],
        *["1e308 * 1e308 - 1e308 * 1e308 == score / 0", "won and (new or menu)"],
    ],
)
def test_what_is_not_known_does_not_hold_and_neither_does_its_contrary(text: str) -> None:
    assert holds(text, READ) is False
    assert holds(f"not ({text})", READ) is False


def test_names_are_those_of_sources() -> None:
    assert names_in("lives == 0 and not (menu or text == 'lives_left') and True") == {"lives", "menu", "text"}
    assert names_in("1 < 2") == frozenset()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("f(x)", "'f(x)' is not allowed in a condition"),
        ("a.b", "'a.b' is not allowed"),
        *[(text, "is not allowed") for text in ("a if b else c", "lambda: 1", "a in b", "a == None", "~a", "f'{a}'")],
        *[(text, "expected a condition such as") for text in ("", "a = 1", "a == 0 && b", "a\x00", "(" * 500)],
        ("not " * 200 + "a", f"at most {MAX_DEPTH} levels deep"),
        ("-" * 900 + "a", f"at most {MAX_DEPTH} levels deep"),
        ("a" * (MAX_CHARS + 1), f"at most {MAX_CHARS} characters, it has {MAX_CHARS + 1}"),
    ],
)
def test_what_is_no_condition_is_told_with_what_is_expected(text: str, found: str) -> None:
    with pytest.raises(ConditionError) as refused:
        names_in(text)
    assert found in str(refused.value)
    assert len(str(refused.value)) < 400


@given(st.text() | st.text(alphabet="ab01 ().=<>!-+*/'&|notr", max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        names = names_in(text)
    except ConditionError:
        return
    assert isinstance(holds(text, dict.fromkeys(names, 1)), bool)


names = st.sampled_from(["a", "b", "c"])
values = st.sampled_from(["0", "1", "2.5", "True", "False"])


def joined(parts: st.SearchStrategy[str], operators: Sequence[str]) -> st.SearchStrategy[str]:
    return st.tuples(parts, st.sampled_from(operators), parts).map(lambda words: f"({' '.join(words)})")


terms = st.recursive(names | values, lambda parts: joined(parts, "+-*/"), max_leaves=4)
conditions = st.recursive(
    terms | joined(terms, ["==", "!=", "<", "<=", ">", ">="]),
    lambda parts: joined(parts, ["and", "or"]) | parts.map(lambda part: f"(not {part})"),
    max_leaves=5,
)
numbers = st.integers(-3, 3) | st.booleans() | st.sampled_from([0.5, -2.5])
readings = st.fixed_dictionaries({"a": numbers, "b": numbers, "c": numbers})


@given(conditions, readings)
def test_what_is_known_means_what_it_means_in_python(text: str, read: dict[str, Value]) -> None:
    try:
        expected = bool(eval(text, {}, dict(read)))  # noqa: S307 - made above
    except ZeroDivisionError:
        return
    assert holds(text, read) is expected


@given(conditions, readings, st.sets(names))
def test_condition_that_holds_holds_whatever_is_read_of_what_is_not_known(
    text: str, read: dict[str, Value], unread: set[str]
) -> None:
    if "/" not in text and holds(text, {name: value for name, value in read.items() if name not in unread}):
        assert holds(text, read)
