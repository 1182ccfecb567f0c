// Shows a recording frame by frame with its readings, and takes the labels.

import { EPISODES, Labels, REWARDS } from "./labels.js";
import { Timeline } from "./timeline.js";

const LEAP = 10;
// How many of the next pictures are fetched in advance.
const AHEAD = 4;

const $ = (id) => document.getElementById(id);
const seconds = (time) => `${Math.floor(time / 60)}:${(time % 60).toFixed(3).padStart(6, "0")}`;

const recording = await (await fetch("recording")).json();
const tracks = [EPISODES, ...Object.keys(recording.sources), REWARDS];
const labels = new Labels(recording.labels, saveSoon);
const timeline = new Timeline($("timeline"), recording.seconds, (time, track) => {
  if (track) select(track);
  show(frameAt(time));
});
const proposals = Object.fromEntries(tracks.map((track) => [track, proposed(track)]));

let track = tracks[1];
let frame = 0;

// ── readings ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The changes of a track's readings: [[time, value, doubtful, event], …]. */
function proposed(name) {
  if (name === EPISODES) {
    return recording.events.flatMap((event) => {
      if (event.what === "ready") return [[event.at, "begins", false, event]];
      if (event.what === "end") return [[event.at, event.terminated ? "terminated" : "truncated", false, event]];
      return [];
    });
  }
  if (name === REWARDS) {
    // The rewards of one picture are added up.
    const sums = new Map();
    for (const { what, at, reward } of recording.events) {
      if (["reward", "done"].includes(what) && reward) sums.set(at, (sums.get(at) ?? 0) + reward);
    }
    return [...sums].map(([at, amount]) => [at, amount, false]);
  }
  let last;
  const changes = [];
  for (const [at, value, raw, state] of recording.sources[name].changes) {
    const doubtful = !["ok", "unsettled", "nothing"].includes(state);
    if (value !== last || doubtful) changes.push([at, value, doubtful, { raw, state }]);
    last = value;
  }
  return changes;
}

/** The last reading until a time. */
function readAt(name, time) {
  if (name === REWARDS) return proposals[name].find(([at]) => frameAt(at) === frame)?.[1];
  const until = proposals[name].filter(([at]) => at <= time);
  return until.at(-1)?.[1];
}

/** The same in words, with readings that weren't accepted. */
function readText(name, time) {
  const [, value, doubtful, { raw, state } = {}] = proposals[name].filter(([at]) => at <= time).at(-1) ?? [];
  if (!doubtful) {
    const value = readAt(name, time);
    return value == null && name in recording.sources ? "no reading" : shown(value);
  }
  return `${shown(value)} (${state}: ${shown(raw)})`;
}

/** The last frame until a time, or else the first. */
function frameAt(time) {
  return Math.max(0, recording.frames.findLastIndex((at) => at <= time));
}

const now = () => recording.frames[frame] ?? 0;

// ── the picture ────────────────────────────────────────────────────────────────────────────────────────────────────

const pictures = new Map();

function picture(index) {
  if (!pictures.has(index)) {
    const image = new Image();
    image.src = `frames/${index}.png`;
    pictures.set(index, image);
    // Forget the oldest.
    if (pictures.size > 8 * AHEAD) pictures.delete(pictures.keys().next().value);
  }
  return pictures.get(index);
}

function show(index) {
  frame = Math.max(0, Math.min(recording.frames.length - 1, index));
  if (recording.frames.length) $("frame").src = picture(frame).src;
  for (let next = frame + 1; next <= Math.min(frame + AHEAD, recording.frames.length - 1); next++) picture(next);
  render();
}

function placeRegion() {
  const region = recording.sources[track]?.region;
  $("region").hidden = !region;
  if (!region) return;
  const box = $("shown").getBoundingClientRect();
  const scale = Math.min(box.width / recording.width, box.height / recording.height);
  const [left, top] = [(box.width - recording.width * scale) / 2, (box.height - recording.height * scale) / 2];
  const [x, y, width, height] = region;
  Object.assign($("region").style, {
    left: `${left + x * scale - 2}px`,
    top: `${top + y * scale - 2}px`,
    width: `${width * scale + 4}px`,
    height: `${height * scale + 4}px`,
  });
}

// ── the panel ──────────────────────────────────────────────────────────────────────────────────────────────────────

function render() {
  $("position").value = frame;
  $("position").setAttribute("aria-valuetext", seconds(now()));
  $("moment").textContent = `${seconds(now())} · frame ${frame + 1} of ${recording.frames.length}`;
  $("read").textContent = readText(track, now());
  $("read").title = $("read").textContent;
  $("true").textContent = shown(labels.at(track, now()));
  $("value-label").textContent = track === REWARDS ? "Reward at this frame" : "Value from this frame on";
  $("entry").hidden = track === EPISODES;
  $("undo").disabled = !labels.canUndo;
  list();
  placeRegion();
  const rows = tracks.map((name) => ({ name, proposed: proposals[name], labels: labels.list(name) }));
  timeline.draw(rows, track, now());
}

function shown(value) {
  if (value == null) return "–";
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function list() {
  const entries = labels.list(track);
  const current = track === REWARDS ? now() : entries.filter(([at]) => at <= now()).at(-1)?.[0];
  $("count").textContent = `of ${track}: ${entries.length}`;
  const rows = entries.map(([at, value]) => {
    const row = document.createElement("tr");
    row.toggleAttribute("aria-current", at === current);
    row.insertCell().append(button(seconds(at), `go to ${seconds(at)}`, () => show(frameAt(at))));
    const cell = row.insertCell();
    cell.textContent = shown(value);
    if (labels.wasAccepted(track, at)) cell.append(" ", acceptedMark());
    row.insertCell().append(button("×", `remove ${shown(value)} at ${seconds(at)}`, () => labels.remove(track, at)));
    return row;
  });
  const body = document.querySelector("#labels tbody");
  body.replaceChildren(...rows);
  body.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

function acceptedMark() {
  const mark = document.createElement("small");
  mark.textContent = "accepted";
  return mark;
}

function button(text, name, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

function select(name) {
  track = name;
  document.querySelector(`#tracks input[value="${CSS.escape(name)}"]`).checked = true;
  $("entry-error").textContent = "";
  render();
}

$("tracks").append(
  ...tracks.map((name) => {
    const [label, input, text] = ["label", "input", "span"].map((tag) => document.createElement(tag));
    Object.assign(input, { type: "radio", name: "track", value: name });
    input.addEventListener("change", () => select(name));
    text.textContent = name;
    label.append(input, text);
    return label;
  }),
);

// ── input ─────────────────────────────────────────────────────────────────────────────────────────────

/** The kinds of values that a track may have: that of its table, else of its readings, else any. */
function kindsOf(name) {
  const kind = name === REWARDS ? "number" : recording.sources[name].kind;
  const read = proposals[name].map(([, value]) => value).filter((value) => value != null);
  const kinds = kind ? [kind] : [...new Set(read.map((value) => typeof value))];
  return kinds.length ? kinds : ["number", "boolean", "string"];
}

/** The written text as a value of one of the track's kinds. Throws a text with what was expected. */
function parse(text) {
  const kinds = kindsOf(track);
  const word = text.trim();
  const number = Number(word.replace("−", "-"));
  if (kinds.includes("number") && word !== "" && Number.isFinite(number)) return number;
  if (kinds.includes("boolean") && /^(yes|no)$/i.test(word)) return word.toLowerCase() === "yes";
  if (kinds.includes("string")) return text;
  throw kinds.includes("number") ? "Enter a number, such as 120 or −3.5." : "Enter yes or no.";
}

$("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  try {
    labels.set(track, now(), parse($("value").value));
    leaveEntry();
  } catch (problem) {
    if (typeof problem !== "string") throw problem;
    $("entry-error").textContent = problem;
  }
});

function leaveEntry() {
  $("value").value = "";
  $("entry-error").textContent = "";
  $("value").blur();
}

/** Accept what is proposed at this frame: a value, or an episode's end with its reason and the next one's beginning. */
function accept() {
  if (track === EPISODES) return acceptEpisodes(proposals[track].filter(([at]) => frameAt(at) === frame));
  const value = readAt(track, now());
  if (value != null) labels.set(track, now(), value, true);
}

function acceptEpisodes(events) {
  labels.acceptEpisodes(
    events.map(([at, what, , { reason = "" }]) => {
      return [recording.frames[frameAt(at)] ?? 0, what === "begins" ? null : what, reason];
    }),
  );
}

function acceptAll() {
  if (track === EPISODES) return acceptEpisodes(proposals[track]);
  if (track === REWARDS && recording.earned) return acceptComputed();
  // The same value twice in a row is no change.
  const all = proposals[track];
  const changed = all.filter(([, value], i) => value != null && (track === REWARDS || value !== all[i - 1]?.[1]));
  labels.setAll(track, changed.map(([at, value]) => [at, value, true]));
}

function acceptComputed() {
  // What is earned is earned within episodes.
  $("entry-error").textContent = labels.list(EPISODES).length ? "" : "Label the episodes first.";
  labels.computeRewards(recording.earned);
}

/** Go to the next proposed change, or with -1 to the previous one. */
function leap(direction) {
  const frames = [...new Set(proposals[track].map(([at]) => frameAt(at)))];
  const found = direction > 0 ? frames.find((index) => index > frame) : frames.filter((index) => index < frame).at(-1);
  if (found !== undefined) show(found);
}

function step(by) {
  const index = tracks.indexOf(track) + by;
  if (tracks[index]) select(tracks[index]);
}

const KEYS = {
  ArrowLeft: (event) => show(frame - (event.shiftKey ? LEAP : 1)),
  ArrowRight: (event) => show(frame + (event.shiftKey ? LEAP : 1)),
  ArrowUp: () => step(-1),
  ArrowDown: () => step(1),
  Home: () => show(0),
  End: () => show(recording.frames.length - 1),
  Enter: accept,
  a: acceptAll,
  n: () => leap(1),
  p: () => leap(-1),
  v: () => $("value").focus(),
  b: () => labels.begin(now()),
  e: () => labels.end(now()),
  x: () => labels.remove(track, now()),
  u: () => labels.undo(),
};

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target === $("value")) {
    if (event.key === "Escape") leaveEntry();
    return;
  }
  // Enter and space press the focused button.
  if (event.target instanceof HTMLButtonElement && (event.key === "Enter" || event.key === " ")) return;
  if (/^[0-9.−-]$/.test(event.key) && track !== EPISODES) {
    $("value").focus();
    return; // the key goes into the field
  }
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act(event);
});

$("undo").addEventListener("click", () => labels.undo());
$("position").addEventListener("input", () => show(Number($("position").value)));
window.addEventListener("resize", render);
$("frame").addEventListener("load", placeRegion);

// ── saving ─────────────────────────────────────────────────────────────────────────────────────────────────────────

let saving = Promise.resolve();
let unsaved = 0;

function saveSoon(document) {
  render();
  link("waiting", "saving");
  unsaved += 1;
  saving = saving.then(() => save(document));
}

async function save(document) {
  unsaved -= 1;
  try {
    const answer = await fetch("labels", { method: "PUT", body: JSON.stringify(document) });
    if (!answer.ok) throw new Error(await answer.text());
    if (unsaved === 0) link("live", "saved");
  } catch (problem) {
    link("lost", `not saved: ${problem.message}`);
  }
}

function link(state, text) {
  $("link").dataset.link = state;
  $("link").textContent = text;
}

document.title = `${recording.name} · label`;
$("env").textContent = `${recording.name} · ${recording.env_id}`;
$("file").textContent = recording.saved_as;
$("size").textContent = `${recording.width}×${recording.height}`;
$("position").max = Math.max(0, recording.frames.length - 1);
link(recording.damage ? "lost" : "live", recording.damage || "ready");
select(track);
show(0);
