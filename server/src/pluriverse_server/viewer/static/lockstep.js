// Time that is the player's: takes the remote's seat, begins an episode in lockstep, and steps it. The picture comes over
// VNC as always.

import { clock } from "./feed.js";
import { MAX_EVENTS, add } from "./inputs.js";

// As many steps a second as pictures are shown; what is faster takes several frames a step.
const STEPS = 60;
// As fast as possible: as many frames a step as take about so long, so that keys are never late for long.
const BUSY_MS = 30;
// A limit of the protocol, of a step's frames.
const MAX_FRAMES = 3600;

export class Lockstep {
  /** Why the last episode in lockstep did not begin, or ended; null if the player ended it. */
  refusal = null;
  /** Why the present moment was not saved, or not gone back to; null where it was. */
  problem = null;
  paused = false;

  #address;
  #onChange;
  #token = "";
  #agent = null;
  #channel = null;
  #messages = 0;
  #episode = null;
  #frameTime = 1 / 60;
  #view = {};
  #speed = 1;
  #events = [];
  // What was to be taken into the next step at each saved moment, by its name, and the last request for one.
  #moments = new Map();
  #momentAsked = null;
  #timer;
  // When the last step was requested, and when the next is due. NaN: not due, as the last isn't answered yet.
  #asked = 0;
  #due = NaN;
  #frames = 1;

  /** `address(name, parameters)` is the address of a WebSocket of the remote's; `onChange` is called without arguments. */
  constructor({ address, onChange }) {
    this.#address = address;
    this.#onChange = onChange;
  }

  /** Whether the time is the player's, or about to be. */
  get begun() {
    return this.#agent !== null;
  }

  /** How many seconds of the program's time pass in a second. */
  set speed(speed) {
    this.#speed = speed;
    this.#frames = 1;
    this.#due = Math.min(this.#due, clock());
    this.#plan();
  }

  /** Begin an episode, unless an agent has the seat. */
  begin() {
    this.refusal = this.problem = null;
    this.paused = false;
    this.#events = [];
    this.#token = crypto.getRandomValues(new Uint32Array(4)).join("-");
    const agent = new WebSocket(this.#address("", { "pluriverse-agent": this.#token }));
    this.#agent = agent;
    agent.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    agent.onclose = ({ reason }) => agent === this.#agent && this.#end(reason || "the connection broke");
    this.#onChange();
  }

  /** Forget why the last episode in lockstep ended. */
  forget() {
    this.refusal = null;
    this.#onChange();
  }

  /** Leave the seat, and the program to real time. */
  leave() {
    if (this.#episode !== null) this.#reset("realtime");
    this.#end(null);
  }

  /** Let time stand still, or go on. */
  pause(paused) {
    this.paused = paused;
    this.#due = Math.max(this.#due, clock());
    this.#plan();
    this.#onChange();
  }

  /** Go on by a frame, and stand still after it. */
  step() {
    if (!this.paused) this.pause(true);
    if (!Number.isNaN(this.#due)) this.#ask(1);
  }

  /** Keep the present moment under a name, even after the end of its episode. */
  save(name) {
    if (this.#askMoment("v0.agent.snapshot", { name })) this.#moments.set(name, [...this.#events]);
  }

  /** Go back to the moment of a name. */
  goBack(name) {
    if (this.#askMoment("v0.agent.restore", { handle: name })) this.#events = [...(this.#moments.get(name) ?? [])];
  }

  #askMoment(method, body) {
    const open = this.#channel?.readyState === WebSocket.OPEN;
    this.problem = open ? null : "the episode has not begun yet";
    if (open) {
      this.#say(this.#channel, method, this.#episode, body);
      this.#momentAsked = this.#messages;
    }
    this.#onChange();
    return open;
  }

  /** Take an event into the next step. */
  press(event) {
    add(this.#events, event);
  }

  #say(socket, method, episode, body) {
    const headers = { message_id: ++this.#messages, sent_at: clock() / 1000, episode_id: episode };
    socket.send(JSON.stringify({ method, headers, body }));
  }

  #reset(kind) {
    this.#say(this.#agent, "v0.env.reset", this.#episode, { clock: kind });
  }

  // The daemon's messages. Its description is the first one on every connection.
  #hear({ method, headers, body }) {
    if (method === "v0.connection.close" || method === "v0.reply.error") this.#end(body.message);
    if (method !== "v0.env.describe") return;
    const first = this.#episode === null;
    this.#episode = headers.episode_id;
    if (first) this.#reset("lockstep");
    else if (body.env_state === "running" && body.clock === "lockstep") {
      this.#frameTime = body.frame_time;
      // Pictures are seen over VNC: as little of them as can be asked for.
      this.#view = body.views ? { crop: "0,0,1,1" } : {};
      if (this.#channel === null) this.#open();
    }
  }

  // The step channel ends with its program, and another is opened once that is back.
  #open() {
    const channel = new WebSocket(this.#address("step", { "pluriverse-agent": this.#token, ...this.#view }));
    channel.binaryType = "arraybuffer";
    this.#channel = channel;
    channel.onmessage = ({ data }) => this.#answer(channel, data);
    channel.onclose = () => {
      if (this.#channel === channel) this.#channel = null;
      this.#due = NaN;
    };
  }

  // A length, a message of that length, and pixels.
  #answer(channel, data) {
    if (channel !== this.#channel) return;
    const length = new DataView(data).getUint32(0);
    const { method, headers, body } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
    if (headers.parent_message_id === this.#momentAsked) {
      const unsaved = method === "v0.reply.agent.snapshot" && body.handle == null;
      this.problem = unsaved ? "this program can't be saved" : (body.message ?? null);
      this.#onChange();
      return;
    }
    if (method === "v0.env.frame") this.#episode = headers.episode_id;
    // The next episode begins by itself, and shows its first frame.
    if (body.done) return;
    const now = clock();
    this.#adapt(now - this.#asked);
    const due = this.#asked + (this.#frames * this.#frameTime * 1000) / this.#speed;
    this.#due = method === "v0.env.frame" ? now : Math.max(due, now);
    this.#plan();
  }

  #adapt(took) {
    if (this.#speed !== Infinity) this.#frames = Math.max(1, Math.round(this.#speed / STEPS / this.#frameTime));
    else if (took < BUSY_MS / 2) this.#frames = Math.min(2 * this.#frames, MAX_FRAMES);
    else if (took > 2 * BUSY_MS) this.#frames = Math.max(1, this.#frames >> 1);
  }

  #plan() {
    clearTimeout(this.#timer);
    if (this.paused || Number.isNaN(this.#due)) return;
    this.#timer = setTimeout(() => this.#ask(this.#frames), this.#due - clock());
  }

  #ask(frames) {
    clearTimeout(this.#timer);
    if (this.#channel?.readyState !== WebSocket.OPEN) return;
    const events = this.#events.splice(0, MAX_EVENTS);
    // A timer may be late; the time after it isn't.
    const now = clock();
    this.#asked = now - this.#due < 1000 / STEPS && !this.paused ? this.#due : now;
    this.#due = NaN;
    this.#say(this.#channel, "v0.agent.step", this.#episode, { n: this.#messages, frames, events });
  }

  #end(why) {
    const [agent, channel] = [this.#agent, this.#channel];
    this.#agent = this.#channel = this.#episode = null;
    this.#due = NaN;
    clearTimeout(this.#timer);
    this.refusal = why;
    channel?.close();
    agent?.close();
    this.#onChange();
  }
}
