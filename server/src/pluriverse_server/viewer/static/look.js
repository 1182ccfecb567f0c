// The panel of pluriverse-server look: a region that is dragged is read, and what is chosen is written into runtime.toml.

import { percent, shown } from "./format.js";

const $ = (id) => document.getElementById(id);

export class Look {
  #area = document.createElement("div");
  #frame = document.createElement("div");
  #address;
  #place = null;
  #read = null;
  #chosen = null;

  /** `target` is the picture's element; `address` returns the address of a request. */
  constructor(target, address) {
    this.#address = address;
    this.#area.className = "selecting";
    this.#frame.className = "region";
    this.#area.hidden = this.#frame.hidden = true;
    this.#area.append(this.#frame);
    target.after(this.#area);
    $("look").hidden = false;
    $("select").addEventListener("click", () => this.#select($("select").getAttribute("aria-pressed") !== "true"));
    $("restart").addEventListener("click", () => this.#attempt("restart", {}));
    $("written").addEventListener("change", () => this.#reread());
    $("naming").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    let from = null;
    this.#area.addEventListener("pointerdown", (event) => {
      this.#area.setPointerCapture(event.pointerId);
      from = this.#at(event);
    });
    this.#area.addEventListener("pointermove", (event) => from && this.#outline(between(from, this.#at(event))));
    this.#area.addEventListener("pointerup", (event) => {
      const region = between(from, this.#at(event));
      from = null;
      this.#outline(region);
      this.#ask(region);
    });
  }

  /** The picture lies in the middle of its element; see `Readings.place`. */
  place(place) {
    this.#place = place;
    Object.assign(this.#area.style, { width: `${place.width}px`, height: `${place.height}px` });
    this.#frame.hidden = true;
  }

  #select(on) {
    $("select").setAttribute("aria-pressed", String(on));
    this.#area.hidden = !on;
  }

  /** The pixel of the remote's screen under the pointer. */
  #at(event) {
    const { left, top } = this.#area.getBoundingClientRect();
    const { x, y, width, height, scale } = this.#place;
    const within = (value, size) => Math.floor(Math.max(0, Math.min(size - 1, value)) / scale);
    return [x + within(event.clientX - left, width), y + within(event.clientY - top, height)];
  }

  #outline([left, top, width, height]) {
    const { x, y, scale } = this.#place;
    this.#frame.hidden = false;
    Object.assign(this.#frame.style, {
      left: `${(left - x) * scale - 2}px`,
      top: `${(top - y) * scale - 2}px`,
      width: `${width * scale + 4}px`,
      height: `${height * scale + 4}px`,
    });
  }

  async #ask(region) {
    $("place").textContent = `[${region.join(", ")}]`;
    this.#read = await this.#attempt("read", { region });
    const { picture, proposals, missing } = this.#read ?? { proposals: [], missing: [] };
    $("cut").hidden = !picture;
    if (picture) $("cut").src = `data:image/png;base64,${picture}`;
    $("naming").hidden = true;
    if (missing.length) $("look-error").textContent = missing.join(" ");
    document.querySelector("#look tbody").replaceChildren(...proposals.map((proposal) => this.#row(proposal)));
  }

  #row(proposal) {
    const row = document.createElement("tr");
    for (const text of [proposal.how, shown(proposal.value), percent(proposal.sure)]) row.insertCell().textContent = text;
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Choose", ariaLabel: `choose ${proposal.how}` });
    button.addEventListener("click", () => this.#choose(proposal));
    row.insertCell().append(button);
    return row;
  }

  #choose({ table, value }) {
    $("naming").hidden = false;
    $("pattern").hidden = table.read !== "number";
    $("written").value = table.written ?? "{}";
    $("reads").textContent = shown(value);
    this.#show(table);
    $("reward").checked = typeof value === "number";
    $("name").focus();
  }

  #show(table) {
    this.#chosen = table;
    $("table").textContent = Object.entries(table)
      .map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
      .join("\n");
  }

  /** Read the same picture by the pattern as it was edited. */
  async #reread() {
    this.#show({ ...this.#chosen, written: $("written").value });
    const answer = await this.#attempt("reread", { picture: this.#read.picture, table: this.#chosen });
    $("reads").textContent = answer?.value == null ? "no reading" : `${shown(answer.value)}, ${percent(answer.sure)}`;
  }

  async #save() {
    const table = this.#chosen;
    const choice = { name: $("name").value, table, reward: $("reward").checked, picture: this.#read.picture };
    if ((await this.#attempt("choose", choice)) === undefined) return;
    $("naming").hidden = true;
    $("look-error").textContent = "Saved. Restart the program to read it.";
  }

  /** The answer, or undefined after what refused it was shown. */
  async #attempt(word, question) {
    try {
      const answer = await fetch(this.#address(word), { method: "POST", body: JSON.stringify(question) });
      if (!answer.ok) throw new Error(await answer.text());
      $("look-error").textContent = "";
      return await answer.json();
    } catch (problem) {
      $("look-error").textContent = problem.message;
      return undefined;
    }
  }
}

/** The region of two of its corners, both within. */
function between([x1, y1], [x2, y2]) {
  return [Math.min(x1, x2), Math.min(y1, y2), Math.abs(x1 - x2) + 1, Math.abs(y1 - y2) + 1];
}
