/** Park and Miller's numbers: exact in doubles, so that they are the same wherever they are computed. **/
class Random {
	static inline final MODULUS = 2147483647.0;

	var state:Float;

	/** `seed`: any whole number of 0 or more that a double holds exactly. **/
	public function new(seed:Float) {
		state = seed % (MODULUS - 1) + 1;
		// Small seeds are alike until their products have wrapped a few times.
		for (_ in 0...4)
			below(1);
	}

	/** The FlashVar `seed`, 0 without it. **/
	public static function givenSeed():Float {
		final seed = Std.parseFloat(flash.Lib.current.loaderInfo.parameters.seed);
		return Math.isNaN(seed) ? 0 : seed;
	}

	/** The next whole number of 0 to `limit` - 1. **/
	public function below(limit:Int):Int {
		state = (state * 16807) % MODULUS;
		return Std.int(state / MODULUS * limit);
	}
}
