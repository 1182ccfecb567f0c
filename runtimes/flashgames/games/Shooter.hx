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
	Saucers come down; Left and Right held move the gun, space held fires. A saucer that is shot earns ten points, and
	five that land end the game. The first game of a movie begins with the FlashVar `seed`, further ones with a call of
	`begin(seed)`.
**/
class Shooter extends Sprite {
	static inline final WIDTH = 480;
	static inline final HEIGHT = 400;
	static inline final COLUMNS = 8; // that saucers come down in
	static inline final COLUMN = 60; // pixels
	static inline final GROUND = 380;
	static inline final GUN_SPEED = 8; // pixels a frame
	static inline final SHOT_SPEED = 16;
	static inline final RELOAD = 8; // frames
	static inline final REACH = 22; // how far from its middle a saucer is hit
	static inline final EVERY = 24; // frames from one saucer to the next, at first
	static inline final LIVES = 5;
	static inline final POINTS = 10;

	var saucers:Array<{x:Float, y:Float}> = [];
	var shots:Array<{x:Float, y:Float}> = [];
	var random = new Random(0);
	var frames = 0;
	var next = 0; // the frame at which a saucer comes
	var loaded = 0; // the frame from which the gun can fire
	var gun = WIDTH / 2;
	var score = 0;
	var landed = 0;
	final held = new Map<Int, Bool>();
	final board = new TextField();

	static function main() {
		Lib.current.addChild(new Shooter());
	}

	function new() {
		super();
		board.defaultTextFormat = new TextFormat("_sans", 18, 0xFFFFFF, true);
		board.width = WIDTH;
		board.x = board.y = 4;
		addChild(board);
		ExternalInterface.addCallback("getScore", () -> score);
		ExternalInterface.addCallback("isOver", () -> landed >= LIVES);
		ExternalInterface.addCallback("begin", begin);
		begin(Random.givenSeed());
		Lib.current.stage.addEventListener(KeyboardEvent.KEY_DOWN, (event:KeyboardEvent) -> held[event.keyCode] = true);
		Lib.current.stage.addEventListener(KeyboardEvent.KEY_UP, (event:KeyboardEvent) -> held.remove(event.keyCode));
		addEventListener(Event.ENTER_FRAME, step);
	}

	function begin(seed:Float) {
		random = new Random(seed);
		saucers = [];
		shots = [];
		frames = landed = score = loaded = 0;
		next = EVERY;
		gun = WIDTH / 2;
		draw();
	}

	function step(_) {
		if (landed >= LIVES)
			return;
		frames++;
		steer();
		if (frames == next) {
			next += Std.int(Math.max(8, EVERY - frames / 300));
			saucers.push({x: (random.below(COLUMNS) + 0.5) * COLUMN, y: 0});
		}
		for (shot in shots)
			shot.y -= SHOT_SPEED;
		for (saucer in saucers)
			saucer.y += 3 + frames / 1500;
		shots = shots.filter(shot -> shot.y > 0 && !hits(shot));
		landed += saucers.filter(saucer -> saucer.y >= GROUND).length;
		saucers = saucers.filter(saucer -> saucer.y < GROUND);
		draw();
	}

	function steer() {
		if (held.exists(Keyboard.LEFT))
			gun -= GUN_SPEED;
		if (held.exists(Keyboard.RIGHT))
			gun += GUN_SPEED;
		gun = Math.min(Math.max(gun, COLUMN / 2), WIDTH - COLUMN / 2);
		if (held.exists(Keyboard.SPACE) && frames >= loaded) {
			shots.push({x: gun, y: GROUND - 30});
			loaded = frames + RELOAD;
		}
	}

	/** Whether a shot hits a saucer, which is then gone. **/
	function hits(shot:{x:Float, y:Float}):Bool {
		for (saucer in saucers) {
			if (Math.abs(saucer.x - shot.x) < REACH && Math.abs(saucer.y - shot.y) < REACH) {
				saucers.remove(saucer);
				score += POINTS;
				return true;
			}
		}
		return false;
	}

	function draw() {
		final g = graphics;
		g.clear();
		fill(g, landed < LIVES ? 0x101830 : 0x401018, 0, 0, WIDTH, HEIGHT);
		fill(g, 0x506040, 0, GROUND, WIDTH, HEIGHT - GROUND);
		fill(g, 0xD0D0E0, gun - 16, GROUND - 16, 32, 16);
		fill(g, 0xD0D0E0, gun - 4, GROUND - 30, 8, 16);
		for (shot in shots)
			fill(g, 0xFFF060, shot.x - 2, shot.y - 8, 4, 16);
		for (saucer in saucers) {
			g.beginFill(0x60D080);
			g.drawEllipse(saucer.x - REACH, saucer.y - 8, 2 * REACH, 16);
			g.endFill();
			fill(g, 0xB0F0C8, saucer.x - 8, saucer.y - 14, 16, 10);
		}
		board.text = "Score " + score + "   Landed " + landed + " of " + LIVES;
	}

	static function fill(g:Graphics, colour:Int, x:Float, y:Float, width:Float, height:Float) {
		g.beginFill(colour);
		g.drawRect(x, y, width, height);
		g.endFill();
	}
}
