from pluriverse_server.access.connections import ConnectionTable


def table(pending: int = 3, connections: int = 4, of_address: int = 2) -> ConnectionTable[int]:
    return ConnectionTable(max_pending=pending, max_connections=connections, max_per_address=of_address)


def test_flood_drives_out_its_own_oldest_connection() -> None:
    t = table()
    assert t.add(1, "agent") is None
    assert [t.add(number, "flood") for number in (2, 3)] == [None, None]
    assert [t.add(number, "flood") for number in (4, 5, 6)] == [2, 3, 4]
    assert t.admit(1)


def test_connection_that_gave_the_password_is_never_dropped() -> None:
    t = table()
    t.add(1, "a")
    assert t.admit(1)
    assert [t.add(number, "a") for number in (2, 3, 4, 5)] == [None, None, None, 2]
    assert (len(t), t.let_in) == (4, 1)


def test_connections_are_bounded_in_all_and_by_address() -> None:
    t = table()
    admitted: list[bool] = []
    for number, address in enumerate("aaabbccc"):
        t.add(number, address)
        admitted.append(t.admit(number))
    assert admitted == [True, True, False, True, True, False, False, False]
    t.remove(0)
    t.add(9, "c")
    assert t.admit(9)
