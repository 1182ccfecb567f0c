// The reward of an episode as it adds up, and faintly the one before.

import { duration, number } from "./format.js";

// As many steps as the plot has pixels; past that every other one goes.
const MAX_POINTS = 600;
// The curve keeps this far from the top and the bottom, in parts of the height, so that labels stay readable.
const MARGIN = 0.16;

export class Plot {
  #points = [];
  #before = [];
  #episode = null;
  #figure;

  constructor(figure) {
    this.#figure = figure;
    figure.innerHTML =
      '<svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">' +
      '<path class="zero"/><path class="before"/><path class="area"/><path class="curve"/></svg>' +
      '<span class="high"></span><span class="low"></span><span class="start"></span><span class="end"></span>';
  }

  /** `seconds` into `episode`, `reward` had been earned in all. */
  add(episode, seconds, reward) {
    if (episode !== this.#episode) {
      this.#before = this.#points;
      this.#points = [];
      this.#episode = episode;
    }
    const points = this.#points;
    // A reward that stays is one level line: its end moves, no point is added.
    if (points.length > 1 && points.at(-1)[1] === reward && points.at(-2)[1] === reward) points.pop();
    points.push([seconds, reward]);
    if (points.length > MAX_POINTS) this.#points = points.filter((_, i) => i % 2 === 0 || i === points.length - 1);
    this.#draw();
  }

  #draw() {
    const rewards = [0, ...this.#points.map((p) => p[1]), ...this.#before.map((p) => p[1])];
    const [low, high] = [Math.min(...rewards), Math.max(...rewards)];
    const start = Math.min(this.#points[0][0], this.#before[0]?.[0] ?? Infinity);
    const end = Math.max(this.#points.at(-1)[0], this.#before.at(-1)?.[0] ?? 0, start + 1);
    const x = (seconds) => ((seconds - start) / (end - start)).toFixed(4);
    const y = (reward) => (1 - MARGIN - ((reward - low) / (high - low || 1)) * (1 - 2 * MARGIN)).toFixed(4);
    const steps = (points) =>
      points.map(([s, r], i) => (i ? `H${x(s)}V${y(r)}` : `M${x(s)} ${y(r)}`)).join("");

    const curve = steps(this.#points);
    this.#path("zero", `M0 ${y(0)}H1`);
    this.#path("before", steps(this.#before));
    this.#path("curve", curve);
    this.#path("area", `${curve}V${y(0)}H${x(this.#points[0][0])}Z`);
    this.#label("high", high > 0 ? number(high) : "");
    this.#label("low", low < 0 ? number(low) : "");
    this.#label("start", duration(start));
    this.#label("end", duration(end));
  }

  #path(name, d) {
    this.#figure.querySelector(`.${name}`).setAttribute("d", d);
  }

  #label(name, text) {
    this.#figure.querySelector(`.${name}`).textContent = text;
  }
}
