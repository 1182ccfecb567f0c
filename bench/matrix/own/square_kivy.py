"""A square that the arrow keys move, by Kivy."""

from kivy.app import App
from kivy.clock import Clock
from kivy.core.window import Window
from kivy.graphics import Color, Rectangle
from kivy.uix.widget import Widget

MOVES = {"left": (-10, 0), "right": (10, 0), "up": (0, 10), "down": (0, -10)}


class Square(App):
    def build(self):
        self.hue = 0
        widget = Widget()
        with widget.canvas:
            self.colour = Color(0, 1, 1, mode="hsv")
            self.square = Rectangle(pos=(380, 280), size=(40, 40))
        Window.bind(on_key_down=self.move)
        Clock.schedule_interval(self.turn, 1 / 60)
        return widget

    def move(self, window, key, scancode, text, modifiers):
        x, y = MOVES.get(Window._system_keyboard.keycode_to_string(key), (0, 0))
        self.square.pos = self.square.pos[0] + x, self.square.pos[1] + y

    def turn(self, seconds):
        self.colour.h = (self.colour.h + seconds / 4) % 1


Square().run()
