// Plays one movie after another in a Ruffle player, and reads in each what its catalogue entry says.
"use strict";

const SEEDS = 2 ** 31 - 2; // what the seed is taken modulo: movies count in 32 bits
const PATIENCE_MS = 8000; // how long a movie has to get to where its score can be read
const FAILURE_SHOWN_MS = 2000; // how long an episode that could not begin lasts, so that they don't chase one another
const FIRST_NUMBER = "-?\\d[\\d,]*(?:\\.\\d+)?";
const WRAPPER = "vendor/swf/wrapper.swf";

globalThis.RufflePlayer = {
  config: {
    allowScriptAccess: true, // what makes ExternalInterface's callbacks callable
    autoplay: "on",
    contextMenu: "off",
    letterbox: "off",
    logLevel: "error",
    openUrlMode: "deny",
    polyfills: false,
    preferredRenderer: "canvas",
    splashScreen: false,
    unmuteOverlay: "hidden",
    warnOnUnsupportedContent: false,
  },
};

// Movies take the time of day for a seed, and so does Ruffle for Math.random when that is first called. Here it depends
// on the episode's seed, and stands still until the movie first looks at it within an episode.
const clock = {
  epoch: Date.UTC(2010, 0),
  running: false,
  since: null,

  set(seed) {
    this.epoch = Date.UTC(2010, 0) + seed;
    this.running = false;
    this.since = null;
  },

  now() {
    if (!this.running) return this.epoch;
    this.since ??= performance.now();
    return this.epoch + Math.floor(performance.now() - this.since);
  },
};
globalThis.Date = new Proxy(Date, {
  construct: (real, given, target) => Reflect.construct(real, given.length ? given : [clock.now()], target),
  apply: (real) => new real(clock.now()).toString(),
  get: (real, key) => (key === "now" ? () => clock.now() : real[key]),
});

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
const frame = () => new Promise((done) => requestAnimationFrame(done));

const flash = {
  failure: "", // why the episode could not begin
  truncated: "", // the same, once it has been shown for a while
  playing: null, // the catalogue entry of the movie that is loaded
  last: 0, // the score as last read
  before: Promise.resolve(), // the beginning that is under way: Ruffle loads one movie at a time

  begin(env, seed) {
    this.before = this.before.then(() => this.tryToBegin(env, seed % SEEDS));
    return this.before;
  },

  async tryToBegin(env, seed) {
    this.failure = this.truncated = "";
    try {
      if (env.restart && this.playing?.id === env.id) {
        await this.perform(env.restart, seed);
      } else {
        await this.load(env, seed);
        await this.perform(env.start ?? [], seed);
      }
      await this.until(`no score can be read at ${describe(env.score)}`, () => !Number.isNaN(this.read(env.score)));
      this.last = this.read(env.score);
      clock.running = true;
    } catch (error) {
      this.playing = null;
      this.failure = `${env.id}: ${error.message}`;
      console.error(this.failure);
      setTimeout(() => { this.truncated = this.failure; }, FAILURE_SHOWN_MS);
    }
    document.getElementById("failure").textContent = this.failure;
  },

  async load(env, seed) {
    this.playing = null;
    await check(env);
    this.player?.remove();
    this.player = globalThis.RufflePlayer.newest().createPlayer();
    this.player.style.width = `${env.width}px`;
    this.player.style.height = `${env.height}px`;
    document.getElementById("stage").append(this.player);
    const flashVars = { ...env.parameters, seed: String(seed) };
    const wrapped = { movie: `${new URL(env.swf, location.href)}?${new URLSearchParams(flashVars)}` };
    clock.set(seed);
    await this.player.ruffle().load(
      env.wrapped ? { url: WRAPPER, parameters: wrapped } : { url: env.swf, parameters: flashVars });
    if (env.wrapped) await this.until("the movie doesn't load", () => this.ask("loaded"));
    else await frame();
    this.player.focus();
    this.playing = env;
  },

  async perform(steps, seed) {
    for (const { click, key, call, wait } of steps) {
      if (click) await press(this.player, ...click);
      if (key) await type(key);
      if (call) await this.until(`the movie adds no callback ${call}`, () => this.ask(call, seed) !== null);
      if (wait) await pause(1000 * wait);
    }
  },

  /** Returns once `condition` holds; an error if that takes too long. */
  async until(failure, condition) {
    for (const deadline = performance.now() + PATIENCE_MS; !condition(); await frame()) {
      if (performance.now() > deadline) throw new Error(failure);
    }
  },

  /** What a callback of ExternalInterface answers: undefined if that is nothing, null if there is no such callback. */
  ask(name, ...given) {
    return this.player.ruffle().callExternalInterface(name, ...given);
  },

  /** What stands where `source` says, as a number; NaN if there is none. */
  read(source) {
    const value = this.look(source);
    if (typeof value !== "string") return typeof value === "number" ? value : NaN;
    const found = value.match(source.pattern ?? FIRST_NUMBER);
    return found ? Number((found[1] ?? found[0]).replaceAll(",", "")) : NaN;
  },

  look(source) {
    if (source.external) return this.ask(source.external);
    return source.static ? this.ask("static", source.static) : this.ask("field", source.field);
  },

  score() {
    if (this.playing) {
      const score = this.read(this.playing.score);
      if (!Number.isNaN(score)) this.last = score;
    }
    return this.last;
  },

  over() {
    const end = this.playing?.over;
    if (!end) return false;
    const value = this.look(end);
    if (typeof end.is === "string") return typeof value === "string" && value.includes(end.is);
    return end.is === undefined ? Boolean(value) : value === end.is;
  },

  /** Why the episode can't go on, "" if it can. */
  lost() {
    if (this.playing && this.player.ruffle().readyState === 0) return "Ruffle gave the movie up";
    return this.truncated;
  },
};

/** Makes sure that the movie is there and is the one that the catalogue means. */
async function check({ swf, file, sha256 }) {
  const answer = await fetch(swf);
  if (!answer.ok) throw new Error(`there is no file ${file}; put the movie there`);
  if (!sha256) return;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await answer.arrayBuffer()));
  const found = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (found !== sha256) {
    throw new Error(`${file} has the SHA-256 ${found}, expected ${sha256}; put the movie there that has it`);
  }
}

const describe = ({ external, static: name, field }) =>
  external ? `the callback ${external}` : name ? `the public static ${name}` : `the text field ${field}`;

/** A click at a place of the movie, in pixels from its top left; the button is held for a few frames. */
async function press(player, x, y) {
  const canvas = player.shadowRoot.querySelector("canvas");
  const box = canvas.getBoundingClientRect();
  for (const kind of ["pointermove", "pointerdown", "pointerup"]) {
    const at = { clientX: box.x + x, clientY: box.y + y, button: 0, buttons: kind === "pointerdown" ? 1 : 0 };
    canvas.dispatchEvent(new PointerEvent(kind, { ...at, bubbles: true, composed: true, pointerType: "mouse" }));
    await pause(100);
  }
}

/** A key, by its name in JavaScript (`Enter`, `ArrowUp`, `a`). */
async function type(key) {
  const codes = [[/^[a-z]$/i, `Key${key.toUpperCase()}`], [/^\d$/, `Digit${key}`], [/^ $/, "Space"]];
  const code = codes.find(([pattern]) => pattern.test(key))?.[1] ?? key;
  for (const kind of ["keydown", "keyup"]) {
    globalThis.dispatchEvent(new KeyboardEvent(kind, { key, code }));
    await pause(100);
  }
}
