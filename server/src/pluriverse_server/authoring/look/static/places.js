// Where a value may be beside the screen: widgets, a page's tree, files, output and memory; and the steps of the reset.

import { ask, choose } from "./look.js";
import { errorOf, rowOf, shown, written } from "./rows.js";

const $ = (id) => document.getElementById(id);

let page = false;
let steps = [];

document.addEventListener("known", ({ detail }) => {
  page = detail.remote.page === true || /^\[page\]/m.test(detail.text ?? "");
  $("kind").textContent = page ? "The page's tree" : "Widgets";
  $("steps").hidden = page;
  $("ends").hidden = page;
  $("printed").querySelector("pre").textContent = detail.printed || "Nothing yet.";
  const { program } = detail;
  const bus = Object.values(program?.bus ?? {})[0];
  $("printed").querySelector(".note").textContent = program
    ? `Process ${program.pid}, its HOME is ${program.home}; ${bus ? `its bus is ${bus}` : "it has no bus"}.`
    : "";
});

// ── a value that is seen ─────────────────────────────────────────────────────────────────────────────────────────────

$("find").querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  await attempt($("find"), async () => {
    const { values, found, places } = await ask("find", { value: $("value").value });
    const inMemory = places ? `; ${places.toLocaleString("en")} places of memory` : "";
    note($("find"), `Was ${values.join(", then ")}: ${found.length} found${inMemory}.${found.length ? "" : " Play on, and say what it is then."}`);
    list($("find"), found);
    $("value").select();
  });
});

$("forget").addEventListener("click", async () => {
  await attempt($("find"), () => ask("forget"));
  note($("find"), "");
  list($("find"), []);
});

// ── widgets, or the page ─────────────────────────────────────────────────────────────────────────────────────────────

$("list").addEventListener("click", () =>
  attempt($("things"), async () => {
    const { found, also_called: others = {}, names = [] } = await ask(page ? "page" : "widgets");
    const called = Object.entries(others).map(([role, other]) => `“${role}” is “${other}” in other toolkits' versions`);
    const onBus = names.length ? [`on the bus: ${names.join(", ")}`] : [];
    note($("things"), [...called, ...onBus].join("; "));
    list($("things"), found);
  }),
);

// ── steps ────────────────────────────────────────────────────────────────────────────────────────────────────────────

$("record").addEventListener("click", () =>
  attempt($("steps"), async () => {
    const on = $("record").getAttribute("aria-pressed") !== "true";
    const answer = await ask("record", { on });
    $("record").setAttribute("aria-pressed", String(on));
    $("record").textContent = on ? "End" : "Record";
    if (!on) showSteps(answer.steps);
  }),
);

function showSteps(recorded) {
  steps = recorded;
  $("steps").querySelector("ol").replaceChildren(...steps.map(item));
  $("steps").querySelector("[type=submit]").disabled = steps.length === 0;
}

function item(step) {
  const entry = document.createElement("li");
  const { until, ...done } = step;
  const condition = document.createElement("input");
  condition.value = until ?? "";
  condition.placeholder = "until, such as menu == 0";
  condition.setAttribute("aria-label", `until, of ${written(done)}`);
  condition.addEventListener("input", () => {
    if (condition.value.trim()) step.until = condition.value.trim();
    else delete step.until;
  });
  entry.append(written(done), condition);
  return entry;
}

$("steps").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt($("steps"), () => ask("steps", { steps, by: $("by").value }));
});

// ── all of them ──────────────────────────────────────────────────────────────────────────────────────────────────────

async function attempt(section, act) {
  try {
    errorOf(section, "");
    await act();
  } catch (problem) {
    errorOf(section, problem.message);
  }
}

function note(section, text) {
  section.querySelector(".note").textContent = text;
}

function list(section, found) {
  section.querySelector("tbody").replaceChildren(...found.map((one) => rowOf([one.how, shown(one.value)], () => choose(one))));
}
