// The recording as lines, one for each track: readings above, labels below, and the present position.

const ROW = 26;
const TOP = 6;
const NAME_WIDTH = 88;
const FONT = 11;

export class Timeline {
  #canvas;
  #seconds;

  /** `onSeek` gets the clicked time, and the track there, if any. */
  constructor(canvas, seconds, onSeek) {
    this.#canvas = canvas;
    this.#seconds = Math.max(seconds, 0.001);
    let tracks = [];
    this.names = (names) => (tracks = names);
    const seek = (event) => {
      const { offsetX, offsetY } = event;
      const share = (offsetX - NAME_WIDTH) / (canvas.clientWidth - NAME_WIDTH);
      onSeek(Math.max(0, Math.min(1, share)) * this.#seconds, tracks[Math.floor((offsetY - TOP) / ROW)]);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      seek(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && seek(event));
  }

  /** `tracks`: [{name, proposed: [[time, value, doubtful]], labels: [[time, value]]}]; `selected` is a name. */
  draw(tracks, selected, time) {
    this.names(tracks.map(({ name }) => name));
    const canvas = this.#canvas;
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`);
    const ratio = devicePixelRatio;
    const height = TOP * 2 + ROW * tracks.length;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    context.font = `${FONT}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const width = canvas.clientWidth - NAME_WIDTH;
    const x = (at) => NAME_WIDTH + (at / this.#seconds) * (width - 1);
    tracks.forEach(({ name, proposed, labels }, row) => {
      const top = TOP + row * ROW;
      if (name === selected) {
        context.fillStyle = colour("edge");
        context.fillRect(0, top, canvas.clientWidth, ROW);
      }
      context.fillStyle = colour(name === selected ? "ink" : "soft");
      context.fillText(name, 8, top + ROW / 2, NAME_WIDTH - 14);
      for (const [at, , doubtful] of proposed) {
        context.fillStyle = colour(doubtful ? "bad" : "ghost");
        context.fillRect(x(at), top + 4, doubtful ? 2 : 1.5, 8);
      }
      context.fillStyle = colour("accent");
      for (const [at] of labels) context.fillRect(x(at) - 1, top + ROW - 12, 3, 9);
    });
    context.fillStyle = colour("warn");
    context.fillRect(x(time) - 0.5, 0, 1.5, height);
  }
}
