// The panel beside the screen: a snapshot of the remote, written into the page.

import { duration, milliseconds, number, rate } from "./format.js";
import { Plot } from "./plot.js";

const STATES = { running: "running", paused: "paused", resetting: "resetting" };
const CLOCKS = { realtime: "real time", lockstep: "lockstep" };

export class Panel {
  #aside = document.querySelector("aside");
  #state = document.getElementById("state");
  #rows = document.querySelector("#history tbody");
  #history = "";
  #plot = new Plot(document.getElementById("plot"));

  /** False greys the numbers: they are the last that were heard. */
  set live(live) {
    this.#aside.toggleAttribute("data-stale", !live);
  }

  /** Show a snapshot of the daemon's (its fields are those of the state feed). */
  show(state) {
    document.getElementById("env").textContent = state.env_id ?? "";
    document.title = state.env_id ? `${state.env_id} · pluriverse` : "pluriverse";
    document.getElementById("runtime").textContent = `${state.runtime ?? ""} ${state.runtime_version ?? ""}`;
    const shown = state.paused ? "paused" : (state.env_state ?? "none");
    this.#state.textContent = STATES[shown] ?? "not started";
    this.#state.dataset.state = shown;

    this.#set("episode_id", state.episode_id);
    this.#set("reward", number(state.episode_reward));
    this.#set("seconds", duration(state.episode_seconds));
    this.#set("reward_lag", ...milliseconds(state.reward_lag_ms));
    this.#set("agent_round_trip", ...milliseconds(state.agent_round_trip_ms));
    this.#set("clock", CLOCKS[state.clock]);
    this.#set("fps", rate(state.fps_measured), `of ${rate(state.fps)}`);
    this.#set("late_frames", number(state.late_frames), `of ${number(state.frames)}`);
    for (const who of ["agents", "observers", "viewers"]) this.#set(who, number(state[who]));

    if (state.env_state === "running") this.#plot.add(state.episode_id, state.episode_seconds, state.episode_reward);
    this.#list(state.last_episodes ?? []);
  }

  /** Show what this page measured itself, in milliseconds and pictures a second. */
  measure({ age, pictures, roundTrip }) {
    this.#set("picture_age", ...milliseconds(age));
    this.#set("picture_rate", rate(pictures), "/s");
    const [value, unit] = milliseconds(roundTrip);
    document.getElementById("trip").textContent = roundTrip == null ? "" : `ping ${value} ${unit}`;
  }

  #set(field, value, unit = "") {
    const element = this.#aside.querySelector(`[data-field="${field}"]`);
    const [shown, small] = [value ?? "–", unit && ` ${unit}`];
    if (element.textContent === shown + small) return;
    element.textContent = shown;
    if (!unit) return;
    const suffix = document.createElement("small");
    suffix.textContent = small;
    element.append(suffix);
  }

  #list(episodes) {
    const key = JSON.stringify(episodes);
    if (key === this.#history) return;
    this.#history = key;
    const newest = [...episodes].sort((a, b) => Number(b.episode_id) - Number(a.episode_id));
    this.#rows.replaceChildren(
      ...newest.map(({ episode_id, reward, seconds, reason }) => {
        const row = document.createElement("tr");
        for (const text of [episode_id, number(reward), duration(seconds), reason ?? ""]) row.insertCell().textContent = text;
        row.lastChild.title = reason ?? "";
        return row;
      }),
    );
  }
}
