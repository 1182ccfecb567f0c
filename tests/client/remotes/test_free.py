from concurrent.futures import ThreadPoolExecutor

import pytest
from pluriverse.remotes.free import Full, Remotes, one_by_one


@pytest.mark.parametrize(
    ("remotes", "single"),
    [
        ("3", ["1", "1", "1"]),
        ("docker:2?memory=2Gi", ["docker:1?memory=2Gi"] * 2),
        (
            "vnc://a:5900+15900,b:5900+15900?password=x",
            ["vnc://a:5900+15900?password=x", "vnc://b:5900+15900?password=x"],
        ),
        ("pluriverses://a:15900,b:15900", ["pluriverses://a:15900", "pluriverses://b:15900"]),
    ],
)
def test_remotes_are_told_one_by_one(remotes: str, single: list[str]) -> None:
    assert one_by_one(remotes) == single


def test_a_place_is_taken_by_one_at_a_time() -> None:
    places = Remotes("local:2")
    taken = [places.take(), places.take()]
    with pytest.raises(Full, match="all 2 remotes are in use"):
        places.take()
    places.give_back(taken[0])
    assert places.take() == taken[0]


def test_who_waits_gets_a_place_once_it_is_given_back() -> None:
    places = Remotes("local:1")
    taken = places.take()
    with ThreadPoolExecutor() as threads:
        waits = threads.submit(places.take, 60)
        places.give_back(taken)
        assert waits.result() == taken
    with pytest.raises(Full):
        places.take(0.01)
