// What the remote plays, as it comes; browsers let a page play once it was clicked.

const RATE = 44100;
// What comes later than this isn't played in time. More would be heard that much later than it is seen.
const AHEAD_S = 0.1;
// As much waits here when the tab was asleep: it is left out.
const MOST_S = 0.5;

export class Sound {
  #context = null;
  #socket = null;
  #next = 0;

  get on() {
    return this.#socket !== null;
  }

  /** Play what comes from an address until `stop`, or the connection ends. `onEnd` is called at either. */
  start(address, onEnd) {
    this.#context = new AudioContext({ sampleRate: RATE });
    this.#socket = new WebSocket(address);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("message", ({ data }) => this.#play(new Int16Array(data)));
    this.#socket.addEventListener("close", () => {
      this.stop();
      onEnd();
    });
  }

  stop() {
    this.#socket?.close();
    this.#context?.close();
    this.#socket = this.#context = null;
  }

  #play(samples) {
    const context = this.#context;
    if (context === null) return;
    const buffer = context.createBuffer(2, samples.length / 2, RATE);
    for (const channel of [0, 1]) buffer.getChannelData(channel).forEach((_, i, to) => (to[i] = samples[2 * i + channel] / 32768));
    const now = context.currentTime;
    if (this.#next < now || this.#next > now + MOST_S) this.#next = now + AHEAD_S;
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    source.start(this.#next);
    this.#next += buffer.duration;
  }
}
