// Runs in every document before its own scripts and the watcher's, in lockstep: time is the agent's. What a page can ask
// for the time, and what would call it later, asks and waits for a clock that only `advance` moves. Frames of the page
// share the clock of its top; those of other origins have no such clock.
(options) => {
  "use strict";
  if (window !== window.top) {
    let clock;
    try {
      clock = window.top[options.engine];
    } catch {
      return;
    }
    clock?.adopt(window);
    return;
  }

  // Sums of such times are exact, whenever an episode begins.
  const TICKS_PER_MS = 64;
  // HTML: timers that are set by timers, this many in a chain, wait for at least so long.
  const MAX_NESTING = 5;
  const NESTED_MS = 4;
  const IDLE_MS = 10;
  // A page that waits in a loop would wait for ever if reading the time took none.
  const FREE_READS = 1000;
  const READ_MS = 1 / TICKS_PER_MS;
  // A page that isn't visible gets no frames.
  const NO_FRAME_MS = 250;
  const DRAWN = 2;

  const realms = new Set();
  const timers = new Map();
  let animationFrames = new Map();
  let now = 0;
  let frame = 0;
  let nesting = 0;
  let loaded = false;
  let begun = false;
  let turning = false;
  let lastId = 0;
  let reads = 0;

  // How often a page has asked for the time, or for random numbers.
  const asked = { __proto__: null };
  const ask = (what) => { asked[what] = (asked[what] ?? 0) + 1; };
  const read = (what) => {
    ask(what);
    if (++reads > FREE_READS) now += READ_MS;
    return now;
  };

  // ── random numbers: xorshift128 ────────────────────────────────────────────────────────────────────────────────────

  const state = new Uint32Array(4);
  const word = () => {
    const [first, , , last] = state;
    let mixed = first ^ (first << 11);
    mixed ^= mixed >>> 8;
    state.copyWithin(0, 1);
    state[3] = last ^ (last >>> 19) ^ mixed;
    return state[3];
  };
  const plant = ([low, high]) => {
    state.set([low, high, 0x243f6a88, 0xb7e15162]);
    for (let i = 0; i < 20; i++) word();
  };
  const random = () => ((word() >>> 5) * 2 ** 26 + (word() >>> 6)) / 2 ** 53;
  const fill = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = word();
    return array;
  };
  const uuid = () => {
    const bytes = fill(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };

  // ── timers and animation frames ────────────────────────────────────────────────────────────────────────────────────

  const guarded = (realm, act) => {
    try {
      act();
    } catch (error) {
      realm.reportError(error);
    }
  };
  const later = (realm, callback, delay, given, repeats) => {
    const least = nesting >= MAX_NESTING ? NESTED_MS : repeats ? 1 : 0;
    const wait = Math.max(least, Number(delay) | 0);
    const id = ++lastId;
    timers.set(id, { id, realm, callback, given, at: now + wait, every: repeats ? wait : 0, nesting: nesting + 1 });
    return id;
  };
  const nextTimer = (end) => {
    let found = null;
    for (const timer of timers.values()) {
      if (timer.at <= end && (!found || timer.at < found.at || (timer.at === found.at && timer.id < found.id))) {
        found = timer;
      }
    }
    return found;
  };
  const fire = (timer) => {
    now = Math.max(now, timer.at);
    if (timer.every) timer.at = now + timer.every;
    else timers.delete(timer.id);
    nesting = timer.nesting;
    const { realm, callback, given } = timer;
    guarded(realm, () =>
      typeof callback === "function" ? Reflect.apply(callback, realm, given) : realm.eval(String(callback)));
    nesting = 0;
  };

  // A turn of the event loop: after it, promises are settled and messages that were posted before have arrived.
  const { port1, port2 } = new MessageChannel();
  const waiting = [];
  port1.onmessage = () => waiting.shift()();
  const post = port2.postMessage.bind(port2);
  const settle = () => new Promise((done) => { waiting.push(done); post(0); });

  // ── animations and media ───────────────────────────────────────────────────────────────────────────────────────────

  // Those that run are paused, and set to where they would be: by the animation, when it would have begun.
  const running = new WeakMap();
  const native = {
    animate: Element.prototype.animate,
    pause: Animation.prototype.pause,
    play: Animation.prototype.play,
    playState: Object.getOwnPropertyDescriptor(Animation.prototype, "playState").get,
  };
  const rate = (animation) => animation.playbackRate || 1;
  const hold = (animation, from) => {
    running.set(animation, now - from / rate(animation));
    Reflect.apply(native.pause, animation, []);
    animation.currentTime = from;
  };
  const move = (animation) => {
    // One that runs by itself is new.
    if (Reflect.apply(native.playState, animation, []) === "running") hold(animation, 0);
    if (!running.has(animation)) return false;
    const time = (now - running.get(animation)) * rate(animation);
    const end = Number(animation.effect?.getComputedTiming().endTime ?? Infinity);
    if (rate(animation) > 0 ? time < end : time > 0) {
      animation.currentTime = time;
    } else {
      running.delete(animation);
      animation.finish();
    }
    return true;
  };

  const playing = new Map();
  const seek = (media, { from, begun }) => {
    const time = from + ((now - begun) / 1000) * media.playbackRate;
    if (!(time >= media.duration)) {
      media.currentTime = time;
    } else if (media.loop) {
      playing.set(media, { from: 0, begun: now });
      media.currentTime = 0;
    } else {
      playing.delete(media);
      media.currentTime = media.duration;
      media.dispatchEvent(new Event("ended"));
    }
  };

  const animate = () => {
    let moved = playing.size > 0;
    for (const [media, begun] of [...playing]) seek(media, begun);
    for (const realm of realms) {
      for (const animation of realm.document.getAnimations()) moved = move(animation) || moved;
    }
    return moved;
  };

  // ── painting ───────────────────────────────────────────────────────────────────────────────────────────────────────

  // A frame in which nothing changes makes the browser wait for 17 ms of real time whether something will. And where a
  // part changes, what is drawn at its edge depends on the frames before. So there is a veil over the page that changes
  // in each frame, by less than anybody can see.
  const VEIL = "all: initial; position: fixed; inset: 0; background: black; pointer-events: none; z-index: 2147483647; "
    + "will-change: opacity";
  const INPUT = ["keydown", "keyup", "mousemove", "mousedown", "mouseup", "mouseover", "mouseout", "wheel"];
  // Where the pointer is before the agent moves it, a new document is told in the browser's own time.
  const POINTED = ["over", "enter", "move", "out", "leave"].flatMap((how) => ["mouse" + how, "pointer" + how]);
  const nextFrame = requestAnimationFrame.bind(window);
  const soon = setTimeout.bind(window);
  let veil = null;
  let touches = 0;
  const touch = () => {
    if (!veil) {
      veil = document.createElement("i");
      veil.style = VEIL;
    }
    if (!veil.isConnected) document.documentElement?.append(veil);
    veil.style.opacity = ++touches % 2 ? "0.0005" : "0.001";
  };
  // With a frame, what has moved below the pointer has been dealt with, and movements that wait for one. And that a second
  // has begun says that the first was drawn.
  const paint = async (frames) => {
    for (let count = 0; count < frames; count++) {
      await new Promise((done) => {
        nextFrame(() => { touch(); done(); });
        soon(done, NO_FRAME_MS);
      });
    }
  };

  // ── what a document sees ───────────────────────────────────────────────────────────────────────────────────────────

  const stamps = new WeakMap();
  const getter = (prototype, name, get) => Object.defineProperty(prototype, name, { get, configurable: true });

  const adopt = (realm) => {
    realms.add(realm);
    realm.addEventListener("pagehide", () => {
      realms.delete(realm);
      for (const [id, timer] of timers) if (timer.realm === realm) timers.delete(id);
      for (const [id, callback] of animationFrames) if (callback.realm === realm) animationFrames.delete(id);
      for (const media of playing.keys()) if (media.ownerDocument === realm.document) playing.delete(media);
    });

    const RealDate = realm.Date;
    const date = () => options.epoch + Math.floor(read("Date"));
    realm.Date = new Proxy(RealDate, {
      construct: (real, given, target) => Reflect.construct(real, given.length ? given : [date()], target),
      apply: () => new RealDate(date()).toString(),
      get: (real, key) => (key === "now" ? date : real[key]),
    });
    RealDate.prototype.constructor = realm.Date;
    realm.Performance.prototype.now = () => read("performance.now");
    getter(realm.Performance.prototype, "timeOrigin", () => options.epoch);
    getter(realm.Event.prototype, "timeStamp", function () {
      if (!stamps.has(this)) stamps.set(this, now);
      return stamps.get(this);
    });

    // Where no date is given, it is the present one.
    const dates = realm.Intl.DateTimeFormat.prototype;
    const { format, formatToParts } = Object.getOwnPropertyDescriptors(dates);
    getter(dates, "format", function () {
      const write = Reflect.apply(format.get, this, []);
      return (at = date()) => write(at);
    });
    dates.formatToParts = function (at = date()) { return Reflect.apply(formatToParts.value, this, [at]); };
    const { Now, Instant } = realm.Temporal ?? { Now: {} };
    Now.instant = () => Instant.fromEpochMilliseconds(date());
    Now.zonedDateTimeISO = (zone = Now.timeZoneId()) => Now.instant().toZonedDateTimeISO(zone);
    for (const part of ["PlainDate", "PlainTime", "PlainDateTime"]) {
      Now[`p${part.slice(1)}ISO`] = (zone) => Now.zonedDateTimeISO(zone)[`to${part}`]();
    }

    const forget = (id) => { timers.delete(Number(id)); };
    realm.setTimeout = (callback, delay, ...given) => later(realm, callback, delay, given, false);
    realm.setInterval = (callback, delay, ...given) => later(realm, callback, delay, given, true);
    realm.clearTimeout = realm.clearInterval = realm.cancelIdleCallback = forget;
    const idle = { didTimeout: false, timeRemaining: () => IDLE_MS };
    realm.requestIdleCallback = (callback) => later(realm, callback, 1, [idle], false);
    realm.requestAnimationFrame = realm.webkitRequestAnimationFrame = (callback) => {
      animationFrames.set(++lastId, { realm, callback });
      return lastId;
    };
    realm.cancelAnimationFrame = realm.webkitCancelAnimationFrame = (id) => { animationFrames.delete(id); };
    const tasks = realm.scheduler;
    const postTask = tasks.postTask.bind(tasks);
    tasks.postTask = async (task, { delay = 0, ...given } = {}) => {
      if (delay) await new Promise((due) => later(realm, due, delay, [], false));
      return postTask(task, given);
    };

    const { AbortController, DOMException } = realm;
    realm.AbortSignal.timeout = (delay) => {
      const controller = new AbortController();
      const abort = () => controller.abort(new DOMException("signal timed out", "TimeoutError"));
      later(realm, abort, delay, [], false);
      return controller.signal;
    };
    // Sound plays in real time; reading its time returns the page's.
    const sounds = new WeakMap();
    getter(realm.BaseAudioContext.prototype, "currentTime", function () {
      if (!sounds.has(this)) sounds.set(this, now);
      return (now - sounds.get(this)) / 1000;
    });

    realm.Math.random = () => { ask("Math.random"); return random(); };
    realm.Crypto.prototype.getRandomValues = (array) => { ask("crypto.getRandomValues"); return fill(array); };
    realm.Crypto.prototype.randomUUID = () => { ask("crypto.randomUUID"); return uuid(); };

    getter(realm.AnimationTimeline.prototype, "currentTime", () => now);
    getter(realm.Animation.prototype, "playState", function () {
      return running.has(this) ? "running" : Reflect.apply(native.playState, this, []);
    });
    realm.Animation.prototype.pause = function () {
      running.delete(this);
      Reflect.apply(native.pause, this, []);
    };
    realm.Animation.prototype.play = function () {
      const from = this.currentTime ?? 0;
      Reflect.apply(native.play, this, []);
      hold(this, from < Number(this.effect?.getComputedTiming().endTime ?? Infinity) ? from : 0);
    };
    realm.Element.prototype.animate = function (...given) {
      const animation = Reflect.apply(native.animate, this, given);
      hold(animation, 0);
      return animation;
    };
    for (const begun of ["animationstart", "transitionrun"]) {
      realm.addEventListener(begun, () => turning || animate(), { capture: true });
    }

    const media = realm.HTMLMediaElement.prototype;
    media.play = function () {
      if (!playing.has(this)) {
        const from = this.currentTime >= this.duration ? 0 : this.currentTime;
        playing.set(this, { from, begun: now });
        this.dispatchEvent(new Event("play"));
        this.dispatchEvent(new Event("playing"));
      }
      return Promise.resolve();
    };
    media.pause = function () {
      if (playing.delete(this)) this.dispatchEvent(new Event("pause"));
    };
    getter(media, "paused", function () { return !playing.has(this); });

    for (const kind of POINTED) {
      realm.addEventListener(kind, (event) => begun || event.stopImmediatePropagation(), { capture: true });
    }
    for (const kind of INPUT) realm.addEventListener(kind, touch, { capture: true, passive: true });
    // What moves below a pointer that rests is told as a movement. With a button held, one near the edge of a list would
    // scroll it, by as many frames of the browser's own as there happen to be.
    realm.addEventListener("mousemove", (event) => {
      if (event.buttons && !event.movementX && !event.movementY) event.preventDefault();
    }, { capture: true });

    // Real time shows in these: carets blink and scrolling is smooth.
    const style = new realm.CSSStyleSheet();
    style.replaceSync("* { caret-animation: manual !important; scroll-behavior: auto !important; }");
    realm.document.adoptedStyleSheets.push(style);
  };

  // ── what the agent does ────────────────────────────────────────────────────────────────────────────────────────────

  const turn = async (end) => {
    turning = true;
    reads = 0;
    let busy = false;
    for (let timer; (timer = nextTimer(end)); busy = true) {
      fire(timer);
      await settle();
    }
    // Reading it may have taken longer.
    const at = now = Math.max(now, end);
    const callbacks = animationFrames;
    animationFrames = new Map();
    for (const { realm, callback } of callbacks.values()) guarded(realm, () => callback(at));
    if (callbacks.size) await settle();
    turning = false;
    return animate() || callbacks.size > 0 || busy;
  };

  let opened;
  const clock = {
    __proto__: null,
    adopt,
    paint,
    asked: () => ({ ...asked }),
    // Whether a menu or picker of the browser's own is open.
    menu: () => {
      const open = [...realms].map((realm) => realm.document.querySelector("select:open, input:open")).find(Boolean);
      opened = open ?? opened;
      return open !== undefined;
    },
    // Opens the last one again.
    reopen: () => opened.showPicker(),
    // By up to so many frames, until one in which anything was to be done: returns how many, and whether that is so. In
    // the last `due` frames of the browser's are, to show what was done before.
    // A document has no time before it is loaded, and an episode may begin in it then.
    advance: async (frames, due) => {
      if (!loaded) {
        loaded = document.readyState === "complete";
        if (loaded) {
          await paint(DRAWN);
          begun = true;
        }
        return [0, true];
      }
      for (let count = 1; ; count++) {
        // A moment late: pages that add up frames themselves find that each of them has passed.
        const end = (Math.floor((++frame * 1000 * TICKS_PER_MS) / options.fps) + 1) / TICKS_PER_MS;
        const busy = await turn(end), last = count === frames;
        await paint(busy ? (last ? DRAWN : 1) : last ? due : 0);
        if (busy || last) return [count, busy || due > 0];
      }
    },
    // An episode begins at a whole second, with random numbers of its own, whatever came before it in this page. What
    // the page does about the time until then belongs to the episode before.
    begin: async (seed) => {
      const second = Math.ceil(Math.max((frame + 1) / options.fps, now / 1000));
      frame = second * options.fps;
      await turn(second * 1000);
      now = second * 1000;
      plant(seed);
    },
  };
  plant(options.seed);
  Object.defineProperty(window, options.engine, { value: Object.freeze(clock) });
  adopt(window);
};
