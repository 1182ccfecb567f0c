// The picture: one noVNC connection at a time, and what can be measured of what it draws.

import RFB from "./vendor/novnc/core/rfb.js";
import { initLogging } from "./vendor/novnc/core/util/logging.js";
import { clock } from "./feed.js";
import { HEIGHT, WIDTH, readClock } from "./metadata.js";

// Reading pixels back costs a millisecond or so; ten times a second is more than a person reads.
const READ_MS = 100;
// The median of a second's worth is steady to read and quick to follow.
const AGES = 10;
// Past this without a new picture the last age is out of date.
const STILL_MS = 3000;

// Errors are shown on the page; noVNC's own log is for its developers.
initLogging(new URLSearchParams(location.search).has("debug") ? "debug" : "none");

// Enlarged so far, a game's pixels are meant to be seen.
const SHARP_FROM = 2;

export class Screen {
  /** Where the environment paints its clock, {x, y}; null if nowhere. */
  metadata = null;
  /** Milliseconds to add to this browser's clock to get the remote's; null while unknown. */
  offset = null;
  /** Called with the picture's `place` whenever it moves (see readings.js); null for none. */
  overlay = null;
  /** Takes keys and the pointer instead of the VNC server, as events of the v0 protocol; null: they go there. */
  input = null;
  /** Takes what VNC doesn't know of, as such events. */
  act = () => {};
  /** Whether the environment grabs the pointer: it is taken here with a click, and its movements are what counts. */
  relative = false;

  #target;
  #picture = null;
  #fit = () => {};
  #rfb = null;
  #buttons = 0;
  #drawn = [];
  #ages = [];
  #readAt = -Infinity;
  #probe = new OffscreenCanvas(WIDTH, HEIGHT).getContext("2d", { willReadFrequently: true });

  constructor(target) {
    this.#target = target;
    this.#probe.imageSmoothingEnabled = false;
    new ResizeObserver(() => this.#fit()).observe(target);
    document.addEventListener("pointermove", ({ movementX, movementY }) => {
      if (this.#grabs) this.#move(Math.round(movementX), Math.round(movementY), this.#buttons);
    });
    document.addEventListener("pointerlockchange", () => this.#grabs || !this.#buttons || this.#move(0, 0, 0));
  }

  /** The part of the remote's screen to show, [x, y, width, height] in its pixels; null for all of it. */
  set picture(box) {
    if (String(box) === String(this.#picture)) return;
    this.#picture = box;
    this.#fit();
  }

  /** Pictures drawn here in the last second. */
  get rate() {
    const since = clock() - 1000;
    while (this.#drawn.length && this.#drawn[0] < since) this.#drawn.shift();
    return this.#drawn.length;
  }

  /** Milliseconds from a picture's painting on the remote to its drawing here, lately; null where unknown. */
  get age() {
    if (!this.#ages.length || clock() - this.#readAt > STILL_MS) return null;
    const sorted = [...this.#ages].sort((a, b) => a - b);
    return sorted[sorted.length >> 1];
  }

  /** Show the remote's screen until the connection ends. Gives the reason. `onPicture` is called at the first picture. */
  run(url, { password, control, onPicture }) {
    return new Promise((resolve) => {
      const surface = document.createElement("div");
      surface.className = "surface";
      surface.dataset.coming = "";
      surface.dataset[control ? "controlling" : "watching"] = "";
      this.#target.append(surface);

      const socket = new WebSocket(url, ["binary"]);
      let reason = "";
      socket.addEventListener("close", (event) => (reason ||= event.reason));

      const rfb = new RFB(surface, socket, { credentials: { password } });
      const canvas = surface.querySelector("canvas");
      rfb.viewOnly = !control;
      this.#divert(rfb);
      // noVNC scales all of the screen or nothing. Whenever it would, what is worth seeing is fitted instead; pointer
      // positions stay right, since its display keeps the scale itself.
      this.#fit = rfb._updateScale = () => this.#show(rfb, surface, canvas);
      rfb.showDotCursor = control;
      rfb.background = "transparent";
      rfb.addEventListener("securityfailure", ({ detail }) => (reason = detail.reason || "the VNC password was refused"));
      rfb.addEventListener("connect", () => {
        this.#watch(canvas, () => this.#reveal(surface, canvas, control, onPicture));
      });
      rfb.addEventListener("disconnect", () => {
        // noVNC takes its canvas away; the last picture is better than none while the next connection comes.
        if ("coming" in surface.dataset) surface.remove();
        else surface.replaceChildren(canvas);
        surface.dataset.gone = "";
        canvas.style.margin = "auto";
        this.#rfb = null;
        this.#ages = [];
        // noVNC may tell of the end before the socket's own event has brought the reason.
        if (socket.readyState === WebSocket.CLOSED) resolve(reason);
        else socket.addEventListener("close", () => resolve(reason));
      });
      this.#rfb = rfb;
    });
  }

  /** End the connection; what it showed stays until another is there. False if there is none to end. */
  leave() {
    if (this.#rfb === null) return false;
    this.#rfb.disconnect();
    return true;
  }

  /** Whether there is a picture that is up to date. */
  get live() {
    return this.#rfb !== null && !("coming" in this.#target.lastChild.dataset);
  }

  /** Press or release a key, as if the screen had the keyboard. */
  press(keysym, down) {
    this.#rfb?.sendKey(keysym, null, down);
  }

  /** Give the keyboard to the screen. */
  focus() {
    this.#rfb?.focus({ preventScroll: true });
  }

  /** Take the keyboard away from the screen. */
  blur() {
    this.#rfb?.blur();
  }

  /** Let go of all keys that are held, wherever they went. */
  release() {
    // noVNC does so at a window's blur.
    window.dispatchEvent(new Event("blur"));
  }

  // All that is pressed passes these two.
  #divert(rfb) {
    const { sendKey, _sendMouse: sendMouse } = rfb;
    rfb.sendKey = (keysym, code, down) => {
      if (this.input === null) sendKey.call(rfb, keysym, code, down);
      else if (down !== undefined) this.input(["KeyEvent", keysym, Boolean(down)]);
      else for (const pressed of [true, false]) this.input(["KeyEvent", keysym, pressed]);
    };
    rfb._sendMouse = (x, y, mask) => {
      if (this.relative) this.#press(mask & 0xff);
      else if (this.input === null) sendMouse.call(rfb, x, y, mask);
      else this.input(["PointerEvent", rfb._display.absX(x), rfb._display.absY(y), mask & 0xff]);
    };
  }

  get #grabs() {
    return this.#target.contains(document.pointerLockElement);
  }

  #press(buttons) {
    // A click that takes the pointer is no other.
    if (!this.#grabs) buttons && this.#target.querySelector("canvas").requestPointerLock();
    else if (buttons !== this.#buttons) this.#move(0, 0, buttons);
  }

  #move(dx, dy, buttons) {
    this.#buttons = buttons;
    (this.input ?? this.act)(["RelativePointerEvent", dx, dy, buttons]);
  }

  #show(rfb, surface, canvas) {
    const display = rfb._display;
    const [x, y, width, height] = this.#picture ?? [0, 0, display.width, display.height];
    if (!width || !height) return;
    const scale = Math.min(this.#target.clientWidth / width, this.#target.clientHeight / height);
    const shown = { width: Math.floor(width * scale), height: Math.floor(height * scale) };
    surface.style.width = `${shown.width}px`;
    surface.style.height = `${shown.height}px`;
    display.scale = scale;
    canvas.style.imageRendering = scale >= SHARP_FROM ? "pixelated" : "";
    const view = canvas.parentElement;
    view.style.overflow = "hidden";
    view.scrollTo(x * scale, y * scale);
    this.overlay?.place({ ...shown, x, y, scale });
  }

  #reveal(surface, canvas, control, onPicture) {
    delete surface.dataset.coming;
    for (const other of [...this.#target.children]) if (other !== surface) other.remove();
    if (control) {
      // A key whose release goes elsewhere would stay down for ever.
      canvas.addEventListener("blur", () => this.release());
      canvas.focus({ preventScroll: true });
    }
    onPicture();
  }

  // noVNC draws each update once onto its visible canvas and has no event for it.
  #watch(canvas, onFirst) {
    const context = canvas.getContext("2d");
    this.#ages = [];
    let first = onFirst;
    context.drawImage = (...what) => {
      CanvasRenderingContext2D.prototype.drawImage.apply(context, what);
      const now = clock();
      this.#drawn.push(now);
      if (now - this.#readAt >= READ_MS) this.#measure(canvas, now);
      first?.();
      first = null;
    };
  }

  #measure(canvas, now) {
    if (this.metadata === null || this.offset === null) return;
    const { x, y } = this.metadata;
    this.#probe.drawImage(canvas, x, y, WIDTH, HEIGHT, 0, 0, WIDTH, HEIGHT);
    const painted = readClock(this.#probe.getImageData(0, 0, WIDTH, HEIGHT).data);
    if (painted === null) return;
    this.#readAt = now;
    this.#ages.push(now + this.offset - painted);
    if (this.#ages.length > AGES) this.#ages.shift();
  }
}
