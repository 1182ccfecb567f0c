// What the sources read: drawn over the picture where they read it, listed beside it, and the rewards that came of it.

import { milliseconds, number, percent, shown } from "./format.js";

// Drawn on whatever the picture has there, so always on a dark label; each state has its word as well.
const COLOURS = {
  ok: "#4fd1b5",
  unsettled: "#f2b35e",
  late: "#c4a7ff",
  unsure: "#ff8a80",
  implausible: "#ff8a80",
  nothing: "#96a1b1",
};
const GROUND = "rgb(12 15 20 / 86%)";
// A region that is drawn smaller than this, as a point, gets a cross that can be seen.
const POINT = 6;
const LINE = 2;
const FONT = 12;
const PAD = 5;
const LABEL = FONT + 2 * PAD;
// Longer texts are in the list, whole.
const MAX_CHARS = 28;
// As many rewards as anybody scrolls through.
const MAX_ROWS = 100;
const NONE_YET = "No rewards yet.";
const UNREWARDED = "No rewards here: runtime.toml has no [[rewards]].";

export class Readings {
  #canvas = document.createElement("canvas");
  #sources = document.querySelector("#sources tbody");
  #rewards = document.querySelector("#rewards tbody");
  #none = document.querySelector("#rewards .empty");
  #readings = {};
  #place = null;
  #listed = "";

  /** `target` is the element that the picture is in. */
  constructor(target) {
    this.#canvas.className = "readings";
    this.#canvas.setAttribute("aria-hidden", "true");
    target.after(this.#canvas);
  }

  /** The picture lies in the middle of its element, `width` x `height` CSS pixels; (`x`, `y`) of the remote's screen is
   *  at its top left, and a pixel of it is `scale` large. */
  place(place) {
    this.#place = place;
    this.#draw();
  }

  /** Show a snapshot of the daemon's. */
  show(state) {
    this.#readings = state.readings ?? {};
    this.#draw();
    this.#sources.replaceChildren(...Object.entries(this.#readings).map(sourceRow));
    this.#none.textContent = state.rewarded === false ? UNREWARDED : NONE_YET;
    const listed = JSON.stringify([state.rewards, state.episode_reward, state.last_episodes]);
    if (listed === this.#listed) return;
    this.#listed = listed;
    this.#rewards.replaceChildren(...withTotals(state).slice(0, MAX_ROWS).map(rewardRow));
  }

  #draw() {
    if (this.#place === null) return;
    const { width, height, x, y, scale } = this.#place;
    const canvas = this.#canvas;
    const ratio = devicePixelRatio;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = `600 ${FONT}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const taken = [];
    for (const [name, reading] of Object.entries(this.#readings)) {
      if (!reading.region) continue;
      const [left, top, wide, high] = reading.region;
      // On whole pixels, where lines are sharp.
      const [x1, y1] = [Math.round((left - x) * scale), Math.round((top - y) * scale)];
      const [x2, y2] = [Math.round((left + wide - x) * scale), Math.round((top + high - y) * scale)];
      const box = { x: x1, y: y1, width: x2 - x1, height: y2 - y1 };
      outline(context, box, reading.state);
      label(context, box, labelText(name, reading), reading.state, { width, height }, taken);
    }
  }
}

function outline(context, box, state) {
  const path = new Path2D();
  path.rect(box.x - LINE / 2, box.y - LINE / 2, box.width + LINE, box.height + LINE);
  if (Math.max(box.width, box.height) < POINT) cross(path, box);
  context.setLineDash([]);
  context.strokeStyle = GROUND;
  context.lineWidth = LINE + 2;
  context.stroke(path);
  context.setLineDash(state === "ok" ? [] : [5, 3]);
  context.strokeStyle = COLOURS[state] ?? COLOURS.nothing;
  context.lineWidth = LINE;
  context.stroke(path);
}

/** Four lines that lead to a box and leave it free. */
function cross(path, { x, y, width, height }) {
  const [left, top, right, bottom] = [x - LINE, y - LINE, x + width + LINE, y + height + LINE];
  const [middle, centre] = [x + width / 2, y + height / 2];
  for (const [x1, y1, x2, y2] of [
    [left - POINT, centre, left, centre],
    [right, centre, right + POINT, centre],
    [middle, top - POINT, middle, top],
    [middle, bottom, middle, bottom + POINT],
  ]) {
    path.moveTo(x1, y1);
    path.lineTo(x2, y2);
  }
}

/** Above the box, or else below or in it: the first place on the picture that no other label has taken. */
function label(context, box, text, state, picture, taken) {
  const width = context.measureText(text).width + 2 * PAD;
  const x = Math.max(0, Math.min(box.x - LINE, picture.width - width));
  const places = [box.y - LINE - LABEL, box.y + box.height + LINE, box.y]
    .filter((y) => y >= 0 && y + LABEL <= picture.height)
    .map((y) => ({ x, y, width, height: LABEL }));
  const free = places.find((place) => !taken.some((other) => overlap(place, other)));
  const place = free ?? places[0] ?? { x, y: Math.max(0, box.y), width, height: LABEL };
  taken.push(place);
  context.fillStyle = GROUND;
  context.fillRect(place.x, place.y, width, LABEL);
  context.fillStyle = COLOURS[state] ?? COLOURS.nothing;
  context.fillText(text, place.x + PAD, place.y + LABEL / 2 + 0.5);
}

function overlap(a, b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function labelText(name, reading) {
  const { value, raw, state } = reading;
  if (value === null && state === "nothing") return `${name}: no reading`;
  const parts = [`${name} ${short(shown(value))}`];
  if (raw !== value && raw !== null) parts.push(`read ${short(shown(raw))}`);
  if (state !== "ok") parts.push(`${stateText(state)} ${confidenceText(reading)}`.trim());
  return parts.join(" · ");
}

function stateText(state) {
  return state === "nothing" ? "no reading" : state;
}

/** Of what wasn't read nothing is known. */
function confidenceText({ confidence, state }) {
  return state === "nothing" ? "" : percent(confidence);
}

function short(text) {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

function sourceRow([name, reading]) {
  const { value, raw, state, lag_ms } = reading;
  const row = document.createElement("tr");
  row.dataset.source = name;
  row.dataset.state = state;
  const head = document.createElement("th");
  head.scope = "row";
  head.append(name, small(stateText(state)));
  row.append(head);
  const cell = row.insertCell();
  cell.append(shown(value));
  if (raw !== value && raw !== null) cell.append(small(`read ${shown(raw)}`));
  cell.title = cell.textContent;
  row.insertCell().textContent = confidenceText(reading) || shown(null);
  row.insertCell().textContent = milliseconds(lag_ms).join(" ").trim();
  return row;
}

function small(text) {
  const element = document.createElement("small");
  element.textContent = text;
  return element;
}

/** The rewards, newest first, each with what its episode had earned by then: counted back from what it has now. */
function withTotals({ rewards = [], episode_id, episode_reward, last_episodes = [] }) {
  const left = new Map(last_episodes.map(({ episode_id, reward }) => [String(episode_id), reward]));
  left.set(String(episode_id), episode_reward);
  return [...rewards].reverse().map((given) => {
    const total = left.get(String(given.episode));
    if (total != null) left.set(String(given.episode), total - given.reward);
    return { ...given, total };
  });
}

function rewardRow({ at, reward, total, done, reason, episode }) {
  const row = document.createElement("tr");
  row.toggleAttribute("data-done", Boolean(done));
  const time = new Date(at * 1000);
  const tenths = Math.floor(time.getMilliseconds() / 100);
  row.insertCell().textContent = `${time.toLocaleTimeString("en-GB")}.${tenths}`;
  row.insertCell().textContent = reward > 0 ? `+${number(reward)}` : number(reward);
  row.insertCell().textContent = number(total);
  const end = row.insertCell();
  end.textContent = done ? `done: ${reason || "no reason given"}` : `episode ${episode}`;
  end.title = end.textContent;
  return row;
}
