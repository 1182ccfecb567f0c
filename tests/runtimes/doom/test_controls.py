from doom.controls import action, choices


def test_few_buttons_make_each_combination_but_opposites() -> None:
    names = [choice["name"] for choice in choices(("TURN_LEFT", "TURN_RIGHT", "ATTACK"))]
    assert names == ["wait", "turn left", "turn right", "attack", "turn left+attack", "turn right+attack"]


def test_many_buttons_are_chosen_one_at_a_time() -> None:
    buttons = ("ATTACK", "USE", "MOVE_FORWARD", "TURN_LEFT")
    assert [len(choice["keys"]) for choice in choices(buttons)] == [0, 1, 1, 1, 1]


def test_choice_presses_its_buttons_and_no_others() -> None:
    buttons = ("MOVE_LEFT", "MOVE_RIGHT", "ATTACK")
    pressed = {choice["name"]: action(buttons, frozenset(choice["keys"])) for choice in choices(buttons)}
    assert pressed["wait"] == [0, 0, 0]
    assert pressed["move left+attack"] == [1, 0, 1]
