import flash.Lib;
import flash.display.DisplayObject;
import flash.display.DisplayObjectContainer;
import flash.display.Loader;
import flash.display.StageAlign;
import flash.display.StageScaleMode;
import flash.events.Event;
import flash.external.ExternalInterface;
import flash.net.URLRequest;
import flash.system.ApplicationDomain;
import flash.system.LoaderContext;
import flash.text.TextField;

/**
	Plays an unmodified movie (FlashVar `movie`: its address, with its own FlashVars as the query) and tells the page
	what that keeps to itself: `static("game.Main.score")` is a public static of a class, `field("hud.score")` the text of
	a field, by the names of the display objects that lead there from the movie's root. Both give null for what isn't
	there (yet). `loaded()` says whether the movie plays.
**/
class Wrapper {
	static var movie:Null<DisplayObject> = null;
	static final domain = new ApplicationDomain(null);

	static function main() {
		final stage = Lib.current.stage;
		stage.scaleMode = StageScaleMode.NO_SCALE;
		stage.align = StageAlign.TOP_LEFT;
		ExternalInterface.addCallback("loaded", () -> movie != null);
		ExternalInterface.addCallback("static", readStatic);
		ExternalInterface.addCallback("field", readField);
		final loader = new Loader();
		loader.contentLoaderInfo.addEventListener(Event.INIT, _ -> {
			stage.frameRate = loader.contentLoaderInfo.frameRate;
			movie = loader.content;
		});
		Lib.current.addChild(loader);
		loader.load(new URLRequest(Lib.current.loaderInfo.parameters.movie), new LoaderContext(false, domain));
	}

	static function readStatic(path:String):Dynamic {
		final dot = path.lastIndexOf(".");
		final name = path.substr(0, dot);
		return domain.hasDefinition(name) ? Reflect.field(domain.getDefinition(name), path.substr(dot + 1)) : null;
	}

	static function readField(path:String):Null<String> {
		var at = movie;
		for (name in path.split("."))
			at = Std.isOfType(at, DisplayObjectContainer) ? cast(at, DisplayObjectContainer).getChildByName(name) : null;
		return Std.isOfType(at, TextField) ? cast(at, TextField).text : null;
	}
}
