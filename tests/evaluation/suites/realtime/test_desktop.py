from pluriverse.adapters.computer import Press, Type
from realtime.desktop import YadOrder
from support.solved import blank, seen


def test_order_is_filled_in_once_as_the_letter_says() -> None:
    script = YadOrder()
    picture = blank(800, 600)
    assert script(seen(picture)) is None
    letter = "Please send me 15 kites of size medium to Kyoto.  Yours, Max Born"
    acts = script(seen(picture, text=letter))
    assert [act.text for act in acts if isinstance(act, Type)] == ["Max Born", "Kyoto", "15"]
    assert sum(isinstance(act, Press) and act.keys == (0xFF54,) for act in acts) == 2
    assert script(seen(picture, text=letter)) is None
