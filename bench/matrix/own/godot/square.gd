# A square that the arrow keys move.
extends Node2D

var at = Vector2(400, 300)
var hue = 0.0

func _process(delta):
	at.x += 200 * delta * (int(Input.is_action_pressed("ui_right")) - int(Input.is_action_pressed("ui_left")))
	at.y += 200 * delta * (int(Input.is_action_pressed("ui_down")) - int(Input.is_action_pressed("ui_up")))
	hue = fmod(hue + delta / 4, 1)
	update()

func _draw():
	draw_rect(Rect2(at - Vector2(20, 20), Vector2(40, 40)), Color.from_hsv(hue, 1, 1))
