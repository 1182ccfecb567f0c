// Links and forms fetch the next page and show it in this document, so that no document has to be loaded.
let asked = 0, held = null;
const site = {
  async go(address, form) {
    const number = (asked += 1);
    const answer = await fetch(address, form ? { method: "POST", body: new URLSearchParams(form) } : {});
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    // What was asked for last is shown.
    if (number !== asked) return;
    document.body.replaceWith(next.body);
    scrollTo(0, 0);
  },
  begin() {
    held = null;
    return site.go("/");
  },
};
addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  event.preventDefault();
  site.go(link.href);
});
addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target, filled = new FormData(form, event.submitter), to = form.getAttribute("action");
  if (form.method === "post") site.go(to, filled);
  else site.go(`${to}?${new URLSearchParams(filled)}`);
});
// What is dragged onto something else is told to the server: a card onto a column or another card.
addEventListener("dragstart", (event) => event.preventDefault());
addEventListener("pointerdown", (event) => {
  held = event.target.closest("[data-card]");
});
addEventListener("pointermove", () => held?.classList.add("held"));
addEventListener("pointerup", (event) => {
  const card = held, over = document.elementFromPoint(event.clientX, event.clientY);
  const at = over?.closest("[data-card], [data-list]");
  held = null;
  if (!card || !card.classList.contains("held")) return;
  card.classList.remove("held");
  if (at && at !== card) site.go("/drop", { held: card.dataset.card, ...at.dataset });
});
