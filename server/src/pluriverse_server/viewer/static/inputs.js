// What is pressed here on its way to a remote, as events of the v0 protocol.

// A limit of the protocol, of an action's and a step's events.
export const MAX_EVENTS = 1024;

/** Add an event to others that wait. Of movements alone only the last place, or their sum, counts. */
export function add(events, event) {
  const [kind, x, y, mask] = event;
  const same = (other) => other?.[0] === kind && other[3] === mask;
  const last = events.at(-1);
  if (mask === undefined || !same(last) || !same(events.at(-2))) events.push(event);
  else if (kind === "PointerEvent") events.splice(-1, 1, event);
  else events.splice(-1, 1, [kind, last[1] + x, last[2] + y, mask]);
}

/** What VNC doesn't know of goes by requests, one at a time: they come in their order. */
export class Outbox {
  #address;
  #waiting = [];
  #sending = false;

  /** `address` returns where they go. */
  constructor(address) {
    this.#address = address;
  }

  async put(event) {
    add(this.#waiting, event);
    if (this.#sending) return;
    this.#sending = true;
    while (this.#waiting.length) {
      const body = JSON.stringify({ events: this.#waiting.splice(0, MAX_EVENTS) });
      await fetch(this.#address(), { method: "POST", body }).catch(() => {});
    }
    this.#sending = false;
  }
}
