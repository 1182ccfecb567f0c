// Rows of tables, and values as text.

export function shown(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

export function sure(share) {
  return share === undefined ? "–" : `${Math.round(share * 100)} %`;
}

/** A row of texts, with a button to choose it if `onChoose` is there. */
export function rowOf(texts, onChoose = null) {
  const row = document.createElement("tr");
  for (const text of texts) row.insertCell().textContent = text;
  if (onChoose) row.insertCell().append(button("Choose", `choose ${texts[0]}`, onChoose));
  return row;
}

export function button(text, name, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", name);
  element.addEventListener("click", act);
  return element;
}

/** A source's table, as it will stand in runtime.toml or nearly so. */
export function tableText(table) {
  return Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join("\n");
}

/** What a step does, in words. */
export function written(done) {
  return Object.entries(done).map(([key, value]) => `${key} ${Array.isArray(value) ? value.join(key === "keys" ? "+" : ", ") : value}`).join(", ");
}

export function errorOf(section, text) {
  section.querySelector(".error").textContent = text;
}
