// The state socket: snapshots of the remote, and a measure of its clock.

// Often enough to follow a clock that drifts, seldom enough to be no load.
const PING_MS = 2000;
// Half a minute of pings: the quickest of them had the least time to wait anywhere, so its middle is the best guess.
const SAMPLES = 15;

/** Milliseconds since the UNIX epoch, finer than Date.now() and never set back. */
export const clock = () => performance.timeOrigin + performance.now();

export class Feed {
  #samples = [];
  #onSnapshot;

  constructor(onSnapshot) {
    this.#onSnapshot = onSnapshot;
  }

  /** Milliseconds to add to this browser's clock to get the remote's; null while unknown. */
  get offset() {
    return this.#best?.offset ?? null;
  }

  /** Milliseconds to the remote's daemon and back; null while unknown. */
  get roundTrip() {
    return this.#best?.roundTrip ?? null;
  }

  get #best() {
    return this.#samples.reduce((best, s) => (best && best.roundTrip <= s.roundTrip ? best : s), null);
  }

  /** Listen until the connection ends. Gives the reason. */
  run(url) {
    this.#samples = [];
    return new Promise((resolve) => {
      const socket = new WebSocket(url);
      const ping = () => socket.send(JSON.stringify({ ping: clock() }));
      let timer;
      socket.onopen = () => {
        ping();
        timer = setInterval(ping, PING_MS);
      };
      socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
      socket.onclose = ({ reason }) => {
        clearInterval(timer);
        resolve(reason);
      };
    });
  }

  #take(message) {
    if (!("pong" in message)) return this.#onSnapshot(message);
    const received = clock();
    const roundTrip = received - message.pong;
    this.#samples.push({ roundTrip, offset: message.now * 1000 - (message.pong + received) / 2 });
    if (this.#samples.length > SAMPLES) this.#samples.shift();
  }
}
