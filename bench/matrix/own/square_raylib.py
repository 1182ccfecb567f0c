"""A square that the arrow keys move, by raylib."""

import pyray

pyray.init_window(800, 600, "square")
pyray.set_target_fps(60)
x, y, angle = 400.0, 300.0, 0.0
while not pyray.window_should_close():
    step = 200 * pyray.get_frame_time()
    x += step * (pyray.is_key_down(pyray.KEY_RIGHT) - pyray.is_key_down(pyray.KEY_LEFT))
    y += step * (pyray.is_key_down(pyray.KEY_DOWN) - pyray.is_key_down(pyray.KEY_UP))
    angle += step / 2
    pyray.begin_drawing()
    pyray.clear_background(pyray.BLACK)
    pyray.draw_rectangle_pro(pyray.Rectangle(x, y, 40, 40), pyray.Vector2(20, 20), angle, pyray.GOLD)
    pyray.end_drawing()
