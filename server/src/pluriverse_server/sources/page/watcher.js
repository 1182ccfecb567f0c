// Runs in every document before the document's own scripts. The page may replace any global later, even maliciously: so
// everything needed is captured here, and called without lookups.
(options) => {
  "use strict";
  const { apply, freeze, defineProperty, getOwnPropertyDescriptor, parse, stringify } = {
    apply: Reflect.apply,
    freeze: Object.freeze,
    defineProperty: Object.defineProperty,
    getOwnPropertyDescriptor: Object.getOwnPropertyDescriptor,
    parse: JSON.parse,
    stringify: JSON.stringify,
  };
  const text = String;
  const clock = Date.now;
  const repeat = setInterval.bind(globalThis);
  const stop = clearInterval.bind(globalThis);
  const later = setTimeout.bind(globalThis);
  const nextFrame = requestAnimationFrame.bind(globalThis);
  const slice = String.prototype.slice;
  const page = document;
  const loading = getOwnPropertyDescriptor(Document.prototype, "readyState").get;
  const send = globalThis[options.binding];
  delete globalThis[options.binding];

  const prevent = Event.prototype.preventDefault;
  // With Ctrl held a wheel zooms, which outlives the page: the browser's own, that no grab keeps where a button is held.
  const zooms = getOwnPropertyDescriptor(MouseEvent.prototype, "ctrlKey").get;
  addEventListener("wheel", (event) => apply(zooms, event, []) && apply(prevent, event, []),
    { capture: true, passive: false });
  const buttonOf = getOwnPropertyDescriptor(MouseEvent.prototype, "button").get;
  // Chromium would go back with the fourth button and forward with the fifth.
  addEventListener(
    "mouseup", (event) => event.isTrusted && apply(buttonOf, event, []) > 2 && apply(prevent, event, []), { capture: true },
  );
  if (!options.menus) {
    addEventListener("contextmenu", (event) => apply(prevent, event, []), { capture: true });
  }
  // A page that is left gets no farewell events: what their handlers store would come after everything was cleared.
  let leaving = false;
  const hush = Event.prototype.stopImmediatePropagation;
  for (const farewell of ["beforeunload", "pagehide", "unload", "visibilitychange"]) {
    addEventListener(farewell, (event) => leaving && apply(hush, event, []), { capture: true });
  }
  if (window !== window.top) return;

  const expressions = options.expressions;
  const rewards = expressions.rewards;
  const state = { __proto__: null, episode: 0, phase: "none", at: 0, timer: 0, looking: false, done: false };
  let pluriverse = freeze({ __proto__: null, seed: 0, env: null, episode: 0, push: () => {} });
  let said = { __proto__: null };

  // JSON is written by hand: stringify of an object would call a page's toJSON on its prototype.
  const quoted = (value) => stringify(text(value));
  const shown = (error) => {
    try {
      return apply(slice, text(error), [0, options.shownChars]);
    } catch {
      return "an error that can't be shown";
    }
  };
  const say = (parts) => {
    if (parts) send('{"episode":' + state.episode + ',"at":' + clock() / 1000 + parts + "}");
  };
  const fault = (key, error) => {
    state.phase = "over";
    say(',"fault":' + quoted(key + ": " + shown(error)));
  };

  // Each returns its part of the message, "" if nothing is new. They throw what the page throws.
  const number = (value) => {
    if (typeof value !== "number") return quoted(typeof value === "string" ? stringify(value) : shown(value));
    return value - value === 0 ? "" + value : quoted(value);
  };
  const readRewards = () => {
    let values = "";
    for (let i = 0; i < rewards.length; i++) {
      state.key = "rewards[" + i + "].value";
      values += (i ? "," : "") + number(rewards[i](pluriverse));
    }
    if (values === said.rewards && !state.done) return "";
    said.rewards = values;
    return ',"values":[' + values + "]";
  };
  const readEnd = (key) => {
    state.key = key;
    const value = expressions[key] ? expressions[key](pluriverse) : false;
    if (!value) return "";
    state.done = true;
    return ',"' + key + '":' + quoted(typeof value === "string" ? apply(slice, value, [0, options.shownChars]) : "");
  };
  const readText = () => {
    state.key = "text";
    const value = expressions.text ? expressions.text(pluriverse) : null;
    if (value === null || value === undefined || value === "" || value === said.text) return "";
    if (typeof value !== "string") throw "expected a string, got " + shown(value);
    if (value.length > options.maxChars) throw "over " + options.maxChars + " characters";
    said.text = value;
    return ',"text":' + quoted(value);
  };
  const readObservation = () => {
    state.key = "observation";
    const value = expressions.observation ? expressions.observation(pluriverse) : null;
    if (value === null || value === undefined) return "";
    const json = stringify(value);
    if (typeof json !== "string") throw "expected JSON, got " + shown(value);
    if (json.length > options.maxChars) throw "over " + options.maxChars + " characters of JSON";
    if (json === said.observation) return "";
    said.observation = json;
    return ',"observation":' + json;
  };
  const readPicture = () => {
    state.key = "picture";
    const box = expressions.picture ? expressions.picture(pluriverse) : null;
    if (box === null || box === undefined) return "";
    return ',"picture":[' + number(box[0]) + "," + number(box[1]) + "," + number(box[2]) + "," + number(box[3]) + "]";
  };

  const isReady = () => {
    if (apply(loading, page, []) !== "complete") return false;
    try {
      return !expressions.ready || Boolean(expressions.ready(pluriverse));
    } catch {
      return false;
    }
  };
  const becomeReady = (episode) => {
    if (state.episode !== episode || state.phase !== "painting") return;
    state.phase = "running";
    say(',"ready":true' + readPicture() + readRewards() + readText() + readObservation());
  };
  const paintThenReady = () => {
    // An animation frame's callback runs just before the frame is painted, a timeout set in it runs after. A page that
    // is not visible gets no frames.
    state.phase = "painting";
    const episode = state.episode;
    // In lockstep who asks has it painted.
    if (!options.everyMs) return becomeReady(episode);
    const ready = () => guarded(() => becomeReady(episode));
    nextFrame(() => later(ready, 0));
    later(ready, options.noFrameMs);
  };
  const look = () => {
    switch (state.phase) {
      case "loading":
        if (apply(loading, page, []) === "complete") begin();
        break;
      case "waiting":
        if (isReady()) paintThenReady();
        break;
      case "running": {
        const ends = readEnd("done") || readEnd("truncated");
        state.key = "rewards";
        const parts = readRewards() + readText() + readObservation() + ends;
        if (ends) state.phase = "over";
        say(parts);
      }
    }
  };
  const guarded = (act) => {
    if (state.looking) return;
    state.looking = true;
    try {
      act();
    } catch (error) {
      fault(state.key, error);
    } finally {
      state.looking = false;
    }
  };
  const tick = () => {
    state.at = clock();
    guarded(look);
  };
  const begin = async () => {
    const episode = state.episode;
    state.phase = "beginning";
    try {
      if (expressions.begin) await expressions.begin(pluriverse);
    } catch (error) {
      if (state.episode === episode) fault("begin", error);
      return;
    }
    if (state.episode !== episode || state.phase !== "beginning") return;
    state.phase = "waiting";
    tick();
  };

  const adopt = (given) => {
    const env = parse(given.env);
    state.episode = given.episode;
    state.done = false;
    said = { __proto__: null };
    pluriverse = freeze({ __proto__: null, seed: given.seed, env, episode: given.episode, push: tick });
  };
  const keepTime = () => {
    stop(state.timer);
    // In lockstep it is asked after each step.
    if (options.everyMs) state.timer = repeat(tick, options.everyMs);
  };
  const engine = {
    __proto__: null,
    begin: (given) => {
      adopt(given);
      keepTime();
      state.phase = "loading";
      tick();
    },
    leave: () => {
      leaving = true;
    },
    // A page may stop timers that aren't its own.
    check: () => {
      if (clock() - state.at > options.stalledMs) keepTime();
      tick();
    },
  };
  defineProperty(globalThis, options.engine, { value: freeze(engine) });
  defineProperty(globalThis, "pluriverse", { get: () => pluriverse, set: () => {}, configurable: true });

  if (options.episode) {
    adopt(options.episode);
    state.phase = "loading";
    keepTime();
  }
};
