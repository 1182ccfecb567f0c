// Buttons for the environment's keys, and an on-screen keyboard for touch screens.

import KeyTable from "./vendor/novnc/core/input/keysym.js";
import keysyms from "./vendor/novnc/core/input/keysymdef.js";

const SIGNS = { Left: "←", Up: "↑", Right: "→", Down: "↓", space: "Space", Return: "Enter" };
// What takes more takes a whole keyboard: only keys with a name are news.
const MAX_KEYS = 24;
// A keyboard that deletes needs something to delete.
const PADDING = "_".repeat(100);

const NAMES = new Map(Object.entries(KeyTable).map(([name, keysym]) => [keysym, name.replace(/^XK_/, "")]));

export class Pad {
  #element;
  #press;
  #typing = document.createElement("textarea");
  #typed = "";
  #shown = null;

  /** `press(keysym, down)` presses or releases a key. */
  constructor(element, press) {
    this.#element = element;
    this.#press = press;
    Object.assign(this.#typing, { autocomplete: "off", autocapitalize: "off", spellcheck: false, ariaLabel: "Keys to type" });
    this.#typing.addEventListener("focus", () => this.#begin());
    this.#typing.addEventListener("input", () => this.#type());
  }

  /** `keys`: [[keysym, what it does or ""], …]. */
  show(keys) {
    if (String(keys) === this.#shown) return;
    this.#shown = String(keys);
    const keyboard = button("Keyboard");
    keyboard.id = "keyboard";
    keyboard.addEventListener("click", () => this.#typing.focus());
    const listed = keys.length > MAX_KEYS ? keys.filter(([, does]) => does).slice(0, MAX_KEYS) : keys;
    this.#element.replaceChildren(...listed.map(([keysym, does]) => this.#key(keysym, does)), keyboard, this.#typing);
  }

  #key(keysym, does) {
    const name = NAMES.get(keysym) ?? String.fromCodePoint(keysym & 0xffffff);
    const label = document.createElement("kbd");
    label.textContent = SIGNS[name] ?? name;
    const key = button(does === name.toLowerCase() ? "" : does);
    key.prepend(label, " ");
    key.ariaLabel = does || name;
    let held = false;
    const hold = (down) => {
      if (held === down) return;
      held = down;
      key.toggleAttribute("data-held", down);
      this.#press(keysym, down);
    };
    key.addEventListener("pointerdown", (event) => {
      key.setPointerCapture(event.pointerId);
      hold(true);
    });
    key.addEventListener("lostpointercapture", () => hold(false));
    // The screen keeps the keyboard, and a finger that rests opens no menu.
    for (const other of ["mousedown", "contextmenu"]) key.addEventListener(other, (event) => event.preventDefault());
    return key;
  }

  #begin() {
    this.#typing.value = this.#typed = PADDING;
  }

  // Keyboards on a screen change words as they are written: what differs from before was typed.
  #type() {
    const [before, now] = [this.#typed, this.#typing.value];
    let same = 0;
    while (same < before.length && before[same] === now[same]) same += 1;
    for (let i = same; i < before.length; i++) this.#tap(KeyTable.XK_BackSpace);
    for (const character of now.slice(same)) {
      this.#tap(character === "\n" ? KeyTable.XK_Return : keysyms.lookup(character.codePointAt(0)));
    }
    this.#typed = now;
  }

  #tap(keysym) {
    for (const down of [true, false]) this.#press(keysym, down);
  }
}

function button(text) {
  return Object.assign(document.createElement("button"), { type: "button", textContent: text });
}
