import os
import signal

import pytest
from pluriverse_server.sources.program.tree import read_tree
from pluriverse_server.sources.trees import NoTree, trim
from support.program import running
from support.waiting import until
from support.widgets import GAME, bus_for, playing
from support.xvfb import HEIGHT, WIDTH, xvfb

pytestmark = pytest.mark.display

SCREEN = (0, 0, WIDTH, HEIGHT)


def named(environment: dict[str, str], name: str) -> bool:
    return any(each.name == name for each in read_tree(environment))


@pytest.mark.skipif(not GAME.exists(), reason="gnome-2048 is not installed")
def test_widgets_have_the_roles_of_the_web_and_are_where_they_are_drawn(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with playing(tmp_path_factory.mktemp("home")) as played:
        until(lambda: named(played.environment, "New Game"))
        nodes = trim(read_tree(played.environment), SCREEN).nodes
        window = nodes[0]
        assert (window.role, window.name) == ("window", "GNOME 2048")
        (button,) = (node for node in nodes if node.name == "New Game")
        assert button.role == "button"
        x, y, width, height = button.box
        assert window.box[0] <= x < x + width <= window.box[0] + window.box[2]
        # A label is drawn on it.
        assert len(set(map(bytes, played.screen.pixels(x, y, width, height).reshape(-1, 3)))) > 5
        # A program that stands still is given up.
        assert played.program is not None
        os.kill(played.program.pid, signal.SIGSTOP)
        with pytest.raises(NoTree, match="doesn't answer"):
            read_tree(played.environment)


def test_without_a_bus_there_is_no_tree() -> None:
    with pytest.raises(NoTree, match="can't be read"):
        read_tree({})
    with pytest.raises(NoTree, match="can't be read"):
        read_tree({"AT_SPI_BUS_ADDRESS": "unix:path=/nowhere/bus"})


def test_fields_have_values_but_passwords(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("home")
    form = ["yad", "--form", "--title=Form", "--field=Name", "--field=Pass:H", "--field=Kites:NUM", "--field=Fast:CHK"]
    with xvfb() as screen, bus_for(home, {**screen.environment, "HOME": str(home)}) as bus:
        environment = {**screen.environment, "HOME": str(home), "GSETTINGS_BACKEND": "memory", **bus.environment}
        with running([*form, "Ada", "secret", "3", "TRUE"], environment):
            until(lambda: named(environment, "Fast"))
            nodes = trim(read_tree(environment), SCREEN).nodes
            assert "secret" not in str(nodes)
            assert {"Ada", "3"} <= {node.value for node in nodes}
            assert [node.value for node in nodes if node.role == "checkbox"] == ["true"]
