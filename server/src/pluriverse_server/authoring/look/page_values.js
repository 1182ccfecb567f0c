// Runs in the page that is looked at: its elements with a text, and its scripts' own values, each with an expression.
(declared, limits) => {
  const elements = [];
  const values = [];

  const pathOf = (element) => {
    if (element.id) return `#${CSS.escape(element.id)}`;
    const parent = element.parentElement;
    if (!parent) return element.localName;
    const alike = [...parent.children].filter(({ localName }) => localName === element.localName);
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(element) + 1})` : "";
    return `${pathOf(parent)} > ${element.localName}${place}`;
  };

  const wordOf = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);

  for (const element of document.querySelectorAll("body *")) {
    if (elements.length >= limits.elements) break;
    if (["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT"].includes(element.tagName)) continue;
    const field = "value" in element && typeof element.value === "string" && element.tagName !== "BUTTON";
    const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!field && !own) continue;
    const path = pathOf(element);
    const text = (field ? element.value : element.textContent).trim().slice(0, limits.chars);
    const place = element.getBoundingClientRect();
    const box = [place.left, place.top, place.width, place.height].map((length) => length * devicePixelRatio);
    elements.push({ path, text, box, expression: `document.querySelector(${JSON.stringify(path)}).${field ? "value" : "textContent"}` });
  }

  // What a browser has itself are accessors and functions.
  const globals = Object.entries(Object.getOwnPropertyDescriptors(window))
    .filter(([name, { value, enumerable }]) => enumerable && value !== undefined && name !== "chrome" && value !== window)
    .map(([name, { value }]) => [name, value]);
  const waiting = [...globals, ...Object.entries(declared())].map(([name, value]) => [name, value, 1]);
  const seen = new Set();
  let looked = 0;
  while (waiting.length && looked < limits.looked && values.length < limits.values) {
    const [expression, value, depth] = waiting.shift();
    looked += 1;
    if (["number", "boolean", "string"].includes(typeof value)) {
      if (typeof value !== "string" || value.length <= limits.chars) values.push({ expression, value: Number.isNaN(value) ? null : value });
      continue;
    }
    if (value === null || typeof value !== "object" || value instanceof Node || seen.has(value) || depth > limits.depth) continue;
    seen.add(value);
    for (const [key, { value: inner, get }] of Object.entries(Object.getOwnPropertyDescriptors(value)).slice(0, limits.keys)) {
      if (get === undefined) waiting.push([Array.isArray(value) && /^\d+$/.test(key) ? `${expression}[${key}]` : expression + wordOf(key), inner, depth + 1]);
    }
  }
  return { elements, values };
}
