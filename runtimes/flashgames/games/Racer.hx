import flash.Lib;
import flash.display.Graphics;
import flash.display.Sprite;
import flash.events.Event;
import flash.events.KeyboardEvent;
import flash.external.ExternalInterface;
import flash.text.TextField;
import flash.text.TextFormat;
import flash.ui.Keyboard;

/**
	A road of three lanes. Left and Right change the lane, Up held drives at full speed. Each car left behind earns a
	point, and the finish ten; a crash ends the race. The first race of a movie begins with the FlashVar `seed`, further
	ones with a call of `begin(seed)`.
**/
class Racer extends Sprite {
	static inline final LANES = 3;
	static inline final LANE = 100; // pixels
	static inline final LEFT = 50; // of the first lane
	static inline final HEIGHT = 400;
	static inline final LENGTH = 50; // of a car
	static inline final AT = 320; // where the front of one's own car is
	static inline final GAP = 300; // from one car's front to the next one's
	static inline final CARS = 20;
	static inline final SPEED = 6; // pixels a frame
	static inline final FULL_SPEED = 12;
	static inline final FINISH = 10; // points

	var lanes:Array<Int> = []; // of the other cars
	var driven = 0; // pixels
	var lane = 1;
	var score = 0;
	var over = false;
	final held = new Map<Int, Bool>();
	final board = new TextField();

	static function main() {
		Lib.current.addChild(new Racer());
	}

	function new() {
		super();
		board.defaultTextFormat = new TextFormat("_sans", 18, 0xFFFFFF, true);
		board.width = 300;
		board.x = board.y = 4;
		addChild(board);
		ExternalInterface.addCallback("getScore", () -> score);
		ExternalInterface.addCallback("isOver", () -> over);
		ExternalInterface.addCallback("begin", begin);
		begin(Random.givenSeed());
		Lib.current.stage.addEventListener(KeyboardEvent.KEY_DOWN, press);
		Lib.current.stage.addEventListener(KeyboardEvent.KEY_UP, release);
		addEventListener(Event.ENTER_FRAME, step);
	}

	function begin(seed:Float) {
		final random = new Random(seed);
		lanes = [for (_ in 0...CARS) random.below(LANES)];
		driven = 0;
		lane = 1;
		score = 0;
		over = false;
		draw();
	}

	function press(event:KeyboardEvent) {
		final again = held.exists(event.keyCode); // a key that is held repeats
		held[event.keyCode] = true;
		if (over || again)
			return;
		if (event.keyCode == Keyboard.LEFT && lane > 0)
			lane--;
		if (event.keyCode == Keyboard.RIGHT && lane < LANES - 1)
			lane++;
	}

	function release(event:KeyboardEvent) {
		held.remove(event.keyCode);
	}

	function step(_) {
		if (over)
			return;
		driven += held.exists(Keyboard.UP) ? FULL_SPEED : SPEED;
		score = 0;
		for (car in 0...CARS) {
			final y = front(car);
			if (lanes[car] == lane && y > AT - LENGTH && y < AT + LENGTH)
				over = true;
			if (y >= AT + LENGTH)
				score++;
		}
		if (score == CARS) {
			score += FINISH;
			over = true;
		}
		draw();
	}

	/** How far down the screen a car's front is. **/
	function front(car:Int):Int {
		return driven - GAP * (car + 1);
	}

	function draw() {
		final g = graphics;
		g.clear();
		fill(g, 0x2E6B33, 0, 0, 400, HEIGHT);
		fill(g, 0x444448, LEFT, 0, LANES * LANE, HEIGHT);
		for (line in 1...LANES)
			for (dash in -1...5)
				fill(g, 0xE8E8D0, LEFT + line * LANE - 3, dash * 100 + driven % 100, 6, 40);
		for (car in 0...CARS)
			drawCar(g, 0x3B6FD0, lanes[car], front(car));
		drawCar(g, over ? 0x882222 : 0xE04030, lane, AT);
		board.text = "Score " + score;
	}

	static function drawCar(g:Graphics, colour:Int, lane:Int, y:Int) {
		if (y < -LENGTH || y > HEIGHT)
			return;
		fill(g, colour, LEFT + lane * LANE + 30, y, 40, LENGTH);
		fill(g, 0x9FC8E8, LEFT + lane * LANE + 36, y + 12, 28, 10);
	}

	static function fill(g:Graphics, colour:Int, x:Float, y:Float, width:Float, height:Float) {
		g.beginFill(colour);
		g.drawRect(x, y, width, height);
		g.endFill();
	}
}
