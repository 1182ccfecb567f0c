// The page shows a remote, or with ?label a recording to be labelled.

const labels = new URL(location).searchParams.has("label");
for (const part of document.querySelectorAll(".viewing")) part.hidden = labels;
for (const part of document.querySelectorAll(".labelling")) part.hidden = !labels;
await import(labels ? "./label.js" : "./viewer.js");
