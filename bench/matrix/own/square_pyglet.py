"""A square that the arrow keys move, by pyglet."""

import pyglet
from pyglet.window import key

window = pyglet.window.Window(800, 600)
keys = key.KeyStateHandler()
window.push_handlers(keys)
square = pyglet.shapes.Rectangle(380, 280, 40, 40, (240, 200, 40))


@window.event
def on_draw():
    window.clear()
    square.draw()


def move(seconds):
    square.x += 200 * seconds * (keys[key.RIGHT] - keys[key.LEFT])
    square.y += 200 * seconds * (keys[key.UP] - keys[key.DOWN])
    square.rotation += 90 * seconds


pyglet.clock.schedule_interval(move, 1 / 60)
pyglet.app.run()
