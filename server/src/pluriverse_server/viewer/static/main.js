// The page shows a remote, or with ?label a recording to be labelled.

const labels = new URL(location).searchParams.has("label");
const opening = document.querySelector("#opening p");
opening.textContent = labels ? "Loading the recording…" : `Connecting to ${location.host}…`;
for (const part of document.querySelectorAll(".viewing")) part.hidden = labels;
for (const part of document.querySelectorAll(".labelling")) part.hidden = !labels;
try {
  await import(labels ? "./label.js" : "./viewer.js");
  document.getElementById("opening").remove();
} catch (problem) {
  opening.textContent = `The page did not load; reload it. ${problem.message}`;
  throw problem;
}
