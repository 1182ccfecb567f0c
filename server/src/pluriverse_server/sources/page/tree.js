// Runs beside a page's scripts in a world of its own, where they can't reach it: returns what of the page is drawn, as JSON
// of [parent, role, name, value, left, top, right, bottom], in pixels of the screen. `accessible` is dom-accessibility-api.
//
// What only passes clicks on (pointer-events: none) isn't known to hide anything, and shadow roots that are closed are
// not looked into.
(accessible, options) => {
  "use strict";
  const { maxFrames, maxChars } = options;
  // A form's fields hide properties of the same names, and what is named in a document hides the document's.
  const method = (type, name) => Function.prototype.call.bind(type.prototype[name]);
  const getter = (type, name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(type.prototype, name).get);
  const attribute = method(Element, "getAttribute");
  const boundsOf = method(Element, "getBoundingClientRect");
  const isDrawn = method(Element, "checkVisibility");
  const localName = getter(Element, "localName");
  const shadowRoot = getter(Element, "shadowRoot");
  const nodeType = getter(Node, "nodeType");
  const firstChild = getter(Node, "firstChild");
  const nextSibling = getter(Node, "nextSibling");
  const parentNode = getter(Node, "parentNode");
  const rootOf = method(Node, "getRootNode");
  const documentElement = getter(Document, "documentElement");
  const titleOf = getter(Document, "title");
  const stackAt = { document: method(Document, "elementsFromPoint"), shadow: method(ShadowRoot, "elementsFromPoint") };

  // Of elements whose role the package doesn't know.
  const ROLES = {
    audio: "audio", canvas: "canvas", iframe: "iframe", input: "textbox", label: "labeltext", p: "paragraph",
    svg: "img", video: "video",
  };
  const INPUTS = { color: "button", file: "button" };
  // The name of a row is all that is in it.
  const UNNAMED = new Set(["generic", "labeltext", "paragraph", "row"]);
  const NAMING = ["aria-label", "title", "aria-labelledby"];
  const CHECKED = new Set(["checkbox", "radio"]);
  const VALUED = new Set(["textbox", "searchbox", "combobox", "spinbutton", "slider", "progressbar", "meter"]);
  const BUTTONS = new Set(["button", "file", "image", "reset", "submit"]);

  const intersection = (one, other) => [
    Math.max(one[0], other[0]), Math.max(one[1], other[1]), Math.min(one[2], other[2]), Math.min(one[3], other[3]),
  ];
  const isEmpty = ([left, top, right, bottom]) => left >= right || top >= bottom;
  const isWithin = (one, other) =>
    one[0] >= other[0] && one[1] >= other[1] && one[2] <= other[2] && one[3] <= other[3];
  const shifted = ({ left, top, right, bottom }, [x, y]) => [left + x, top + y, right + x, bottom + y];

  // ── what is said of an element ─────────────────────────────────────────────────────────────────────────────────────

  const roleOf = (element, tag) =>
    accessible.getRole(element) ?? (tag === "input" && INPUTS[element.type] || ROLES[tag] || "generic");
  const nameOf = (element, role) => {
    const given = NAMING.map((name) => attribute(element, name));
    if (UNNAMED.has(role) && !given.some(Boolean)) return "";
    let name = "";
    try {
      name = accessible.computeAccessibleName(element, { computedStyleSupportsPseudoElements: true });
    } catch {
      // A form whose field hides what the package asks for.
    }
    return name || given[0] || given[1] || attribute(element, "placeholder") || "";
  };
  const valueOf = (element, tag, role) => {
    const said = attribute(element, "aria-checked") ?? attribute(element, "aria-pressed");
    if (said !== null) return said;
    if (tag === "input" && CHECKED.has(element.type)) return element.indeterminate ? "mixed" : `${element.checked}`;
    if (!VALUED.has(role)) return null;
    if (tag === "select") return Array.from(element.selectedOptions, (option) => option.text).join(", ");
    if (tag === "input" && BUTTONS.has(element.type)) return null;
    if (["input", "textarea", "progress", "meter"].includes(tag)) return `${element.value}`;
    return attribute(element, "aria-valuetext") ?? attribute(element, "aria-valuenow")
      ?? (role === "textbox" || role === "searchbox" ? element.textContent : null);
  };

  // ── what hides it ──────────────────────────────────────────────────────────────────────────────────────────────────

  let solid;
  const above = (node) => parentNode(node) ?? (node instanceof ShadowRoot ? node.host : null);
  const isIn = (node, element) => {
    for (; node; node = above(node)) if (node === element) return true;
    return false;
  };
  const isSolid = (element) => {
    if (!element || nodeType(element) !== Node.ELEMENT_NODE) return true;
    if (!solid.has(element)) {
      const host = above(element);
      solid.set(element, getComputedStyle(element).opacity === "1" && isSolid(host instanceof ShadowRoot ? host.host : host));
    }
    return solid.get(element);
  };
  const isOpaque = (element) => {
    const { backgroundColor, visibility } = getComputedStyle(element);
    return backgroundColor.startsWith("rgb(") && visibility === "visible" && isSolid(element);
  };
  const isHiddenAt = (element, x, y) => {
    const root = rootOf(element);
    for (const other of stackAt[root instanceof ShadowRoot ? "shadow" : "document"](root, x, y)) {
      if (isIn(element, other)) return false;
      if (!isIn(other, element) && isOpaque(other)) return true;
    }
    return false;
  };
  const isHidden = (element, [left, top, right, bottom], [x, y]) => {
    const [west, east] = [left - x + 0.5, right - x - 0.5], [north, south] = [top - y + 0.5, bottom - y - 0.5];
    const points = [[(west + east) / 2, (north + south) / 2], [west, north], [east, north], [west, south], [east, south]];
    return points.every(([across, down]) => isHiddenAt(element, across, down));
  };

  // ── the walk ───────────────────────────────────────────────────────────────────────────────────────────────────────

  // A room is where what is in an element may be seen: what flows, and what is positioned out of the flow.
  let found, frames;

  const tell = (parent, role, name, value, box) => {
    found.push([parent, role, name.slice(0, maxChars), value && value.slice(0, maxChars), ...box]);
    return found.length - 1;
  };

  // The lines of a text that are within `clip`.
  const partOf = (text, range, clip, shift) => {
    const lines = Array.from(range.getClientRects(), (line) => !isEmpty(intersection(shifted(line, shift), clip)));
    const first = lines.indexOf(true), last = lines.lastIndexOf(true);
    if (first < 0) return "";
    const endOf = (count) => {
      let low = 0, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        range.setEnd(text, middle);
        if (range.getClientRects().length <= count) low = middle;
        else high = middle - 1;
      }
      return low;
    };
    return text.data.slice(endOf(first), endOf(last + 1));
  };

  const walkText = (text, parent, room, shift) => {
    if (!/\S/.test(text.data)) return;
    const range = text.ownerDocument.createRange();
    range.selectNodeContents(text);
    const bounds = shifted(range.getBoundingClientRect(), shift), box = intersection(bounds, room.flow);
    if (isEmpty(box) || isHidden(above(text), box, shift)) return;
    tell(parent, "text", isWithin(bounds, room.flow) ? text.data : partOf(text, range, room.flow, shift), null, box);
  };

  const walkFrame = (element, bounds, visible, parent) => {
    const inner = element.contentDocument;
    if (!inner || !documentElement(inner) || frames === maxFrames) return;
    const { innerWidth, innerHeight } = element.contentWindow;
    // Borders are as wide on both sides, as a rule.
    const left = (bounds[0] + bounds[2] - innerWidth) / 2, top = (bounds[1] + bounds[3] - innerHeight) / 2;
    walkDocument(inner, [left, top], intersection([left, top, left + innerWidth, top + innerHeight], visible), parent);
  };

  const walkDocument = (document, shift, frame, parent) => {
    frames += 1;
    const inner = tell(parent, "document", titleOf(document), null, frame);
    walk(documentElement(document), inner, { flow: frame, positioned: frame }, { shift, frame });
  };

  const walkAll = (nodes, parent, room, place, isShown) => {
    for (const node of nodes) {
      const type = nodeType(node);
      if (type === Node.ELEMENT_NODE) walk(node, parent, room, place);
      else if (type === Node.TEXT_NODE && isShown) walkText(node, parent, room, place.shift);
    }
  };
  const childrenOf = function* (element, tag) {
    const assigned = tag === "slot" ? element.assignedNodes() : [];
    if (assigned.length) yield* assigned;
    else for (let node = firstChild(shadowRoot(element) ?? element); node; node = nextSibling(node)) yield node;
  };

  const walk = (element, parent, room, place) => {
    const style = getComputedStyle(element), tag = localName(element), isContents = style.display === "contents";
    if (style.opacity === "0" || attribute(element, "aria-hidden") === "true") return;
    if (!isContents && !isDrawn(element)) return;
    const isShown = style.visibility === "visible";
    if (isContents || tag === "html" || tag === "body") {
      walkAll(childrenOf(element, tag), parent, room, place, isShown);
      return;
    }
    const { position } = style;
    const within = position === "fixed" ? room.positioned && place.frame
      : position === "absolute" ? room.positioned : room.flow;
    const bounds = shifted(boundsOf(element), place.shift), visible = intersection(bounds, within);
    if (isShown && !isEmpty(visible)) {
      const role = roleOf(element, tag), name = nameOf(element, role);
      const isSaid = role !== "generic" || name;
      if (isSaid && !isHidden(element, visible, place.shift)) {
        const isSecret = tag === "input" && element.type === "password";
        parent = tell(parent, role, name, isSecret ? null : valueOf(element, tag, role), visible);
        if (tag === "iframe" || tag === "frame") walkFrame(element, bounds, visible, parent);
      }
    }
    const flow = style.overflowX === "visible" && style.overflowY === "visible" ? within : visible;
    const inner = { flow, positioned: position === "static" ? room.positioned : flow };
    walkAll(childrenOf(element, tag), parent, inner, place, isShown);
  };

  return () => {
    [found, frames, solid] = [[], 0, new Map()];
    walkDocument(document, [0, 0], [0, 0, innerWidth, innerHeight], null);
    for (const each of found) for (let side = 4; side < 8; side++) each[side] *= devicePixelRatio;
    return JSON.stringify(found);
  };
}
