// The page: it asks for the password if one is needed, keeps the picture and the state connected, and shows if it isn't.

import { Feed } from "./feed.js";
import { Gamepads } from "./gamepads.js";
import { Outbox } from "./inputs.js";
import { Lockstep } from "./lockstep.js";
import { Look } from "./look.js";
import { Pad } from "./pad.js";
import { Panel } from "./panel.js";
import { Readings } from "./readings.js";
import { Screen } from "./screen.js";
import { Sound } from "./sound.js";

// A remote that restarts is back within seconds; asking once a second is no load for it.
const RETRY_MS = 1000;
// As often as the feed speaks.
const MEASURE_MS = 200;
const PASSWORD_KEY = "pluriverse.password";

const $ = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const page = new URL(location.href);
let control = page.searchParams.get("control") === "1";
let password = page.searchParams.get("password") ?? sessionStorage.getItem(PASSWORD_KEY) ?? "";

const panel = new Panel();
const screen = new Screen($("screen"));
const readings = new Readings($("screen"));
const pad = new Pad($("pad"), (keysym, down) => screen.press(keysym, down));
const look = page.searchParams.has("look") ? new Look($("screen"), (word) => endpoint(`ask/${word}`)) : null;
screen.overlay = {
  place: (place) => {
    readings.place(place);
    look?.place(place);
  },
};
const outbox = new Outbox(() => endpoint("ask/act"));
screen.act = (event) => outbox.put(event);
const gamepads = new Gamepads((event) => (screen.input ?? screen.act)(event));
const feed = new Feed((state) => {
  screen.metadata = state.metadata;
  // Between two episodes the picture is nowhere; what it was a moment ago is the better guess.
  if (state.env_state === "running") showPicture(state.picture);
  screen.offset = feed.offset;
  panel.show({ ...state, paused: state.paused || (lockstep.begun && lockstep.paused) });
  readings.show(state);
  pad.show(state.keys ?? []);
  screen.relative = control && (state.relative ?? false);
  gamepads.count = control ? (state.pads ?? 0) : 0;
  showTime(state);
  showWorlds(state);
  $("sound").hidden = !state.audio;
  $("readings").hidden = Object.keys(state.readings ?? {}).length === 0;
  panel.live = true;
});

document.body.toggleAttribute("data-embed", page.searchParams.has("embed"));

// The password works as well from the tab's own memory, where it isn't visible on the screen or a picture of it.
page.searchParams.delete("password");
history.replaceState(null, "", page);

/** The address of one of the viewer's own endpoints. */
function endpoint(name, parameters = {}) {
  const url = new URL(name, location.href);
  url.search = new URLSearchParams({ ...(password && { password }), ...parameters });
  return url;
}

function socketAddress(name, parameters) {
  const url = endpoint(name, parameters);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url;
}

function notice(title, detail) {
  const box = $("notice");
  box.hidden = title === null;
  if (title === null) return;
  box.querySelector("h2").textContent = title;
  box.querySelector("p").textContent = detail;
}

function link(state, text) {
  $("link").dataset.link = state;
  $("link").textContent = text;
}

/** The picture is there. */
function connected() {
  notice(null);
  link("live", control ? "in control" : "live");
}

function connecting() {
  link("waiting", "connecting");
  notice(`Connecting to ${location.host}`, "Waiting for the first picture.");
}

// Both connections wait for the same answer, so that the form is shown once and the remote is asked once.
let opening = null;

function access() {
  opening ??= open().finally(() => (opening = null));
  return opening;
}

/** Resolves once the remote is there and takes the password. */
async function open() {
  for (;;) {
    try {
      const answer = await fetch(endpoint("access"), { cache: "no-store" });
      const allowed = await answer.json();
      if (allowed.granted) {
        allowControl(allowed.control);
        // The other connection may have shown that the remote is unreachable, with this one unchanged.
        if (screen.live) connected();
        break;
      }
      notice(null);
      link("waiting", "waiting for the password");
      password = await askForPassword(password !== "");
      connecting();
    } catch {
      link("lost", "not connected");
      notice("Can't reach the remote", "It may be restarting. Retrying every second.");
      await sleep(RETRY_MS);
    }
  }
  sessionStorage.setItem(PASSWORD_KEY, password);
}

/** Some tokens only let one look. */
function allowControl(allowed) {
  document.querySelector('#mode input[value="control"]').disabled = !allowed;
  if (allowed || !control) return;
  control = false;
  showMode();
}

function askForPassword(wasWrong) {
  const [form, input, error] = [$("login"), $("password"), $("login-error")];
  form.hidden = false;
  error.textContent = wasWrong ? "Wrong password." : "";
  input.setAttribute("aria-invalid", String(wasWrong));
  input.value = "";
  input.focus();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      form.hidden = true;
      resolve(input.value);
    };
  });
}

async function keepState() {
  for (;;) {
    await access();
    const connection = feed.run(socketAddress("state"));
    // What broke is back.
    lockstep.forget();
    await connection;
    panel.live = false;
    await sleep(RETRY_MS);
  }
}

let switching = false;

async function keepPicture() {
  for (;;) {
    await access();
    const address = socketAddress("vnc", { control: control ? "1" : "0" });
    const reason = await screen.run(address, { password, control, onPicture: connected });
    if (switching) {
      switching = false;
      continue;
    }
    link("lost", "not connected");
    notice("Connection lost", `${sentence(reason || "The connection broke")} Retrying every second.`);
    await sleep(RETRY_MS);
  }
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1).replace(/\.?$/, ".")}`;
}

function showMode() {
  document.querySelector(`#mode input[value="${control ? "control" : "watch"}"]`).checked = true;
  const keys = lockstep.begun ? " <kbd>F9</kbd> pauses, <kbd>F10</kbd> steps one frame." : "";
  $("pad").hidden = !control;
  $("hint").innerHTML = control
    ? `Keys and mouse go to the remote.<span> <kbd>F8</kbd> releases the keyboard.${keys}</span>`
    : "View only: keyboard and mouse stay here.";
  if (lockstep.refusal !== null) $("hint").textContent = `No lockstep: ${lockstep.refusal}`;
  else if (lockstep.problem !== null) $("hint").textContent = sentence(lockstep.problem);
}

$("mode").addEventListener("change", ({ target }) => {
  control = target.value === "control";
  lockstep.leave();
  if (control) page.searchParams.set("control", "1");
  else page.searchParams.delete("control");
  history.replaceState(null, "", page);
  showMode();
  switching = screen.leave();
});

function showReadings(on) {
  document.body.toggleAttribute("data-readings", on);
  $("readings").setAttribute("aria-pressed", String(on));
}

$("readings").addEventListener("click", () => {
  const on = !page.searchParams.has("readings");
  if (on) page.searchParams.set("readings", "1");
  else page.searchParams.delete("readings");
  history.replaceState(null, "", page);
  showReadings(on);
});

// Whether the environment supports lockstep, by the last snapshot.
let stepped = false;

const lockstep = new Lockstep({
  address: (name, parameters) => socketAddress(`../${name}`, parameters),
  onChange: () => {
    showMode();
    showClock();
  },
});

function showTime({ clocks }) {
  stepped = clocks?.includes("lockstep") ?? false;
  showClock();
}

function showClock() {
  screen.input = lockstep.begun ? (event) => lockstep.press(event) : null;
  $("time").hidden = !(control && (stepped || lockstep.begun));
  $("lockstep").setAttribute("aria-pressed", String(lockstep.begun));
  $("clockwork").hidden = !lockstep.begun;
  $("pause").setAttribute("aria-pressed", String(lockstep.paused));
}

// The screen keeps the keyboard, and what is held stays held.
$("time").addEventListener("mousedown", (event) => {
  if (event.target.closest("button")) event.preventDefault();
});

$("lockstep").addEventListener("click", () => {
  screen.release();
  if (lockstep.begun) lockstep.leave();
  else lockstep.begin();
});
$("pause").addEventListener("click", () => lockstep.pause(!lockstep.paused));
$("step").addEventListener("click", () => lockstep.step());
$("speed").addEventListener("change", ({ target }) => {
  lockstep.speed = Number(target.value);
  screen.focus();
});
$("clockwork").addEventListener("submit", (event) => {
  event.preventDefault();
  // Held keys are released after a moment that is saved, and not before one that is gone back to.
  screen.release();
  const name = $("moment-name").value;
  if (event.submitter === $("back")) lockstep.goBack(name);
  else {
    lockstep.save(name);
    const names = $("moment-names");
    if (![...names.options].some(({ value }) => value === name)) names.append(new Option(name, name));
  }
  screen.focus();
});
window.addEventListener("pagehide", () => lockstep.leave());

function showWorlds({ worlds = [], world }) {
  const select = $("world");
  select.hidden = worlds.length < 2;
  select.disabled = !control;
  // An open list stays open.
  if (worlds.join() === select.dataset.worlds && String(world) === select.value) return;
  select.dataset.worlds = worlds.join();
  select.replaceChildren(...worlds.map((slot) => new Option(`World ${slot}`, slot, false, slot === world)));
}

$("world").addEventListener("change", ({ target }) => {
  // What is held is released where it was pressed.
  screen.release();
  fetch(endpoint("ask/world"), { method: "POST", body: JSON.stringify({ world: Number(target.value) }) });
  screen.focus();
});

let picture = null;
let zoomed = true;

function showPicture(box) {
  picture = box;
  $("zoom").hidden = box === null;
  $("zoom").setAttribute("aria-pressed", String(zoomed));
  screen.picture = zoomed ? box : null;
}

$("zoom").addEventListener("click", () => {
  zoomed = !zoomed;
  showPicture(picture);
});

const sound = new Sound();

function showSound() {
  $("sound").setAttribute("aria-pressed", String(sound.on));
}

$("sound").addEventListener("click", () => {
  if (sound.on) sound.stop();
  else sound.start(socketAddress("../sound"), showSound);
  showSound();
});

$("fullscreen").addEventListener("click", () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else $("stage").requestFullscreen();
});

const OWN_KEYS = {
  F8: () => {
    screen.blur();
    document.querySelector("#mode input:checked").focus();
  },
};
const CLOCK_KEYS = {
  F9: () => lockstep.pause(!lockstep.paused),
  F10: () => lockstep.step(),
};

// Before noVNC, which would take every key there is.
window.addEventListener(
  "keydown",
  (event) => {
    const own = control && (OWN_KEYS[event.key] ?? (lockstep.begun && CLOCK_KEYS[event.key]));
    if (!own) return;
    event.preventDefault();
    event.stopPropagation();
    own();
  },
  { capture: true },
);

connecting();
setInterval(() => panel.measure({ age: screen.age, pictures: screen.rate, roundTrip: feed.roundTrip }), MEASURE_MS);
showMode();
showReadings(page.searchParams.has("readings"));
keepState();
keepPicture();
