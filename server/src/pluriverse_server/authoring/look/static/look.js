// The page beside a program that is looked at: play it, look at a still picture of it, and write down what is read.

import { button, errorOf, rowOf, shown, sure, tableText } from "./rows.js";
import { Still } from "./still.js";

const STATE_MS = 700;

const $ = (id) => document.getElementById(id);

let state = {};
let frame = null;
let choice = null;

/** Ask the server; what it refuses is thrown as its words. */
export async function ask(word, question = {}) {
  const answer = await fetch(`ask/${word}`, { method: "POST", body: JSON.stringify(question) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// ── play, or look ────────────────────────────────────────────────────────────────────────────────────────────────────

const still = new Still($("still"), read);

async function takePicture() {
  try {
    const answer = await fetch("frame.png");
    if (!answer.ok) throw new Error(await answer.text());
    frame = Number(answer.headers.get("X-Frame"));
    still.show(await createImageBitmap(await answer.blob()));
    $("problem").textContent = "";
  } catch (problem) {
    $("problem").textContent = problem.message;
  }
}

async function setMode(mode) {
  const looks = mode === "look";
  $("again").disabled = !looks;
  if (looks) await takePicture();
  $("still").hidden = !looks;
  $("viewer").hidden = looks;
  still.place();
}

document.querySelectorAll("#mode input").forEach((input) => input.addEventListener("change", () => setMode(input.value)));
$("again").addEventListener("click", takePicture);
window.addEventListener("keydown", (event) => {
  const inField = event.target instanceof HTMLInputElement || event.target instanceof HTMLButtonElement;
  if (event.key !== " " || inField || $("still").hidden) return;
  event.preventDefault();
  takePicture();
});
for (const word of ["reset", "restart"]) {
  $(word).addEventListener("click", () => ask(word).catch((problem) => ($("problem").textContent = problem.message)));
}

// ── a region ─────────────────────────────────────────────────────────────────────────────────────────────────────────

async function read(region) {
  $("place").textContent = `[${region.join(", ")}]`;
  $("reading").hidden = false;
  try {
    const { proposals, missing } = await ask("read", { frame, region });
    $("reading").querySelector(".note").textContent = missing.join(" ");
    $("reading").querySelector("tbody").replaceChildren(
      ...proposals.map((proposal) =>
        rowOf([proposal.how, shown(proposal.value), sure(proposal.sure)], () => choose({ ...proposal, frame })),
      ),
    );
  } catch (problem) {
    $("reading").querySelector(".note").textContent = problem.message;
  }
}

/** Offer what was chosen, {how, value, sure, table, …}, to be named and written down. */
export function choose(chosen) {
  choice = chosen;
  $("naming").hidden = false;
  $("table").textContent = tableText(chosen.table);
  // What a page has is read by an expression, not by a source.
  const isPage = chosen.table.from === undefined;
  $("named").hidden = $("name").disabled = isPage;
  $("uses").hidden = !isPage;
  errorOf($("naming"), "");
  const number = typeof chosen.value === "number";
  $("reward").checked = number && !state.sources.some(({ reward }) => reward);
  $("name").value = chosen.name ?? (number && !state.sources.some(({ name }) => name === "score") ? "score" : "");
  $("name").focus();
  $("naming").scrollIntoView({ block: "nearest" });
}

$("naming").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    if (choice.table.from === undefined) {
      await ask("page-expression", { expression: choice.table.value, use: $("use").value, value: choice.value });
    } else await ask("choose", { ...choice, name: $("name").value, reward: $("reward").checked });
    $("naming").hidden = true;
    await showState();
  } catch (problem) {
    errorOf($("naming"), problem.message);
  }
});

$("ends").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const done = $("done").value.trim();
    const reason = Object.keys(state.episode?.done ?? {})[0] || "over";
    await ask("episode", { ready: $("ready").value.trim(), done: done ? { [reason]: done } : {} });
    errorOf($("ends"), "");
    await showState();
  } catch (problem) {
    errorOf($("ends"), problem.message);
  }
});

// ── what is known ────────────────────────────────────────────────────────────────────────────────────────────────────

async function remove(name) {
  await ask("remove", { name }).catch((problem) => ($("problem").textContent = problem.message));
  await showState();
}

async function showState() {
  state = await (await fetch("state")).json();
  const { remote } = state;
  if ($("viewer").src !== state.viewer) $("viewer").src = state.viewer;
  $("env").textContent = [remote.env_id, remote.env_state].filter(Boolean).join(" · ") || " ";
  $("path").textContent = state.file;
  $("size").textContent = remote.width ? `${remote.width}×${remote.height}` : "";
  $("link").dataset.link = state.problem ? "lost" : "live";
  $("link").textContent = state.problem ? "stopped" : "live";
  if (state.problem) $("problem").textContent = state.problem;
  $("file").querySelector("pre").textContent = state.text ?? "";
  $("chosen").querySelector("tbody").replaceChildren(
    ...state.sources.map((source) => {
      const row = rowOf([source.name + (source.reward ? " · reward" : ""), source.problem ?? shown(source.value), sure(source.sure)]);
      row.insertCell().append(button("×", `remove ${source.name}`, () => remove(source.name)));
      row.toggleAttribute("data-off", Boolean(source.problem));
      return row;
    }),
  );
  const ends = $("ends").querySelector("form");
  if (!ends.contains(document.activeElement) && state.episode) {
    $("ready").value = state.episode.ready ?? "";
    $("done").value = Object.values(state.episode.done)[0] ?? "";
  }
  document.dispatchEvent(new CustomEvent("known", { detail: state }));
}

async function keepState() {
  for (;;) {
    try {
      await showState();
    } catch {
      $("link").dataset.link = "lost";
      $("link").textContent = "not connected";
    }
    await new Promise((resolve) => setTimeout(resolve, STATE_MS));
  }
}

keepState();
