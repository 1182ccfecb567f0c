import flash.Lib;
import flash.display.Sprite;
import flash.events.MouseEvent;
import flash.text.TextField;
import flash.text.TextFormat;

/**
	Lights out: a click turns a lamp and its neighbours on or off; the game is won when all are dark. It begins with the
	FlashVar `seed`. It knows nothing of ExternalInterface, as most Flash games: what there is to know of it stands in a
	text field and in public statics.
**/
class Puzzle extends Sprite {
	static inline final SIZE = 5; // lamps, both ways
	static inline final LAMP = 72; // pixels
	static inline final TOP = 40;
	static inline final SHUFFLES = 12; // clicks that undo the riddle

	public static var dark = 0; // lamps
	public static var clicks = 0;
	public static var solved = false;

	final lamps:Array<Bool> = [for (_ in 0...SIZE * SIZE) false];
	final board = new TextField();

	static function main() {
		Lib.current.addChild(new Puzzle());
	}

	function new() {
		super();
		name = "puzzle";
		board.name = "board";
		board.defaultTextFormat = new TextFormat("_sans", 18, 0xFFFFFF, true);
		board.width = SIZE * LAMP;
		board.x = board.y = 6;
		board.selectable = board.mouseEnabled = false;
		addChild(board);
		final random = new Random(Random.givenSeed());
		// What an even number of the same clicks leaves dark all over is no riddle.
		while (!lamps.contains(true))
			for (_ in 0...SHUFFLES)
				turn(random.below(SIZE), random.below(SIZE));
		show();
		Lib.current.stage.addEventListener(MouseEvent.MOUSE_DOWN, click);
	}

	function click(event:MouseEvent) {
		final column = Math.floor(event.stageX / LAMP);
		final row = Math.floor((event.stageY - TOP) / LAMP);
		if (solved || column < 0 || column >= SIZE || row < 0 || row >= SIZE)
			return;
		turn(column, row);
		clicks++;
		show();
	}

	function turn(column:Int, row:Int) {
		for (at in [[column, row], [column - 1, row], [column + 1, row], [column, row - 1], [column, row + 1]])
			if (at[0] >= 0 && at[0] < SIZE && at[1] >= 0 && at[1] < SIZE)
				lamps[at[1] * SIZE + at[0]] = !lamps[at[1] * SIZE + at[0]];
	}

	function show() {
		dark = lamps.filter(lit -> !lit).length;
		solved = dark == SIZE * SIZE;
		board.text = "Dark: " + dark + "  Clicks: " + clicks;
		graphics.clear();
		for (lamp in 0...SIZE * SIZE) {
			graphics.beginFill(lamps[lamp] ? 0xFFD84A : 0x30384C);
			graphics.drawRect(lamp % SIZE * LAMP + 3, TOP + Std.int(lamp / SIZE) * LAMP + 3, LAMP - 6, LAMP - 6);
			graphics.endFill();
		}
	}
}
