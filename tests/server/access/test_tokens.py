import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.access.tokens import MAX_TOKENS, RIGHTS, Right, Role, Token, TokensError, parse_tokens

LIST = """
# who may connect
agent    trainer  trainers-token
observer wall     walls-token

  # people
person   editor    editors-token
\toperator ops    operators-token
"""


def test_list_has_a_token_a_line() -> None:
    assert [str(token) for token in parse_tokens(LIST)] == [
        "agent trainer",
        "observer wall",
        "person editor",
        "operator ops",
    ]
    assert parse_tokens("") == ()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("agent trainer", "it has 2 words"),
        ("trainers-token trainer agent", "the role is missing"),
        ("ended trainer trainers-token", "the role is missing"),
        ("agent trainer short12", "has 7 characters; expected 8 to 128"),
        ("agent trainer with:acolon", "without a colon"),
        ("agent trainer p\u00e4sswords", "printable ASCII"),
        (f"agent {'x' * 65} trainers-token", "at most 64"),
    ],
)
def test_line_that_is_no_token_is_named_without_its_secret(line: str, fault: str) -> None:
    with pytest.raises(TokensError, match=f"line 2: .*{fault}") as error:
        parse_tokens(f"# first\n{line}\n")
    assert "trainers-token" not in str(error.value)


def test_tokens_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(TokensError, match="'a' is given twice"):
        parse_tokens("agent a 12345678\nobserver a 87654321")
    with pytest.raises(TokensError, match="agent a and observer b begin with the same 8"):
        parse_tokens("agent a 12345678-one\nobserver b 12345678-two")
    with pytest.raises(TokensError, match="agent a and all password begin with the same 8"):
        parse_tokens("agent a 12345678-one", password="12345678")


def test_there_are_at_most_so_many() -> None:
    lines = [f"agent a{number} {number:08}" for number in range(MAX_TOKENS + 1)]
    assert len(parse_tokens("\n".join(lines[:-1]))) == MAX_TOKENS
    with pytest.raises(TokensError, match="at most 64"):
        parse_tokens("\n".join(lines))


@given(st.text())
def test_any_text_is_a_list_or_says_why_not(text: str) -> None:
    try:
        tokens = parse_tokens(text)
    except TokensError:
        return
    assert all(isinstance(token, Token) for token in tokens)


def test_secret_is_not_shown() -> None:
    assert "trainers-token" not in repr(parse_tokens(LIST))


def test_no_role_may_what_it_is_not_for() -> None:
    assert Right.PLAY not in RIGHTS[Role.OBSERVER] | RIGHTS[Role.OPERATOR]
    assert Right.CONTROL not in RIGHTS[Role.AGENT]
    assert Right.OPERATE not in RIGHTS[Role.AGENT] | RIGHTS[Role.OBSERVER] | RIGHTS[Role.PERSON]
    assert RIGHTS.keys() == set(Role)
