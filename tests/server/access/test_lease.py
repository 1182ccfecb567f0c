import pytest
from pluriverse_server.access.lease import MAX_TTL_S, MIN_TTL_S, Lease, parse_ttl
from pluriverse_server.access.tokens import Role, Token, parse_tokens

SOMEBODY = Token(Role.OPERATOR, "somebody", "somebodys-token")


def test_lease_lasts_for_its_time_from_each_renewal() -> None:
    lease = Lease(SOMEBODY, 30.0, 130.0)
    assert lease.left_s(100.0) == 30.0
    lease.renew(120.0)
    assert (lease.left_s(120.0), lease.left_s(151.0)) == (30.0, 0.0)


def test_each_lease_has_a_token_of_its_own_which_is_an_agents() -> None:
    one, another = (Lease(SOMEBODY, 30.0, 0.0) for _ in range(2))
    assert one.id != another.id
    assert one.token.secret[:8] != another.token.secret[:8]
    assert parse_tokens(f"{one.token.role} name {one.token.secret}")


@pytest.mark.parametrize("value", [MIN_TTL_S, 30, MAX_TTL_S])
def test_time_within_the_limits_is_taken(value: float) -> None:
    assert parse_ttl(value) == value


@pytest.mark.parametrize("value", [0, 4.9, 601, float("inf"), float("nan"), True, "30", None, [], 10**400])
def test_any_other_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="ttl_s"):
        parse_ttl(value)
