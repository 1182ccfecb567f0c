// A picture of the screen that stands still: a magnifier with coordinates and colours, and a region that is dragged.

// As many pixels of the screen as the magnifier is wide, and how large it shows each.
const SPAN = 15;
const LENS = 180;
// Beside the pointer, not under it.
const APART = 18;

export class Still {
  #box;
  #canvas;
  #frame;
  #lens;
  #caption;
  #magnifier;
  #onRegion;
  #scale = 1;
  #left = 0;
  #top = 0;
  #region = null;
  #from = null;

  /** `box` is the element; `onRegion` gets [x, y, width, height] in pixels of the screen when one was dragged. */
  constructor(box, onRegion) {
    this.#box = box;
    this.#canvas = box.querySelector("#picture");
    this.#frame = box.querySelector("#region");
    this.#magnifier = box.querySelector("#magnifier");
    this.#lens = this.#magnifier.querySelector("canvas").getContext("2d");
    this.#caption = this.#magnifier.querySelector("figcaption");
    this.#onRegion = onRegion;
    // A canvas has a size before it has a picture.
    Object.assign(this.#canvas, { width: 0, height: 0 });
    new ResizeObserver(() => this.place()).observe(box);
    box.addEventListener("pointerdown", (event) => {
      if (!this.#canvas.width) return;
      box.setPointerCapture(event.pointerId);
      this.#from = this.#at(event);
    });
    box.addEventListener("pointermove", (event) => this.#move(event));
    box.addEventListener("pointerup", (event) => this.#drop(event));
    box.addEventListener("pointerleave", () => (this.#magnifier.hidden = true));
  }

  /** Show a picture: an ImageBitmap. */
  show(picture) {
    const { width, height } = picture;
    Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext("2d", { willReadFrequently: true }).drawImage(picture, 0, 0);
    this.place();
  }

  /** The colour at a pixel of the screen, as #rrggbb. */
  colour(x, y) {
    const [red, green, blue] = this.#canvas.getContext("2d").getImageData(x, y, 1, 1).data;
    return `#${[red, green, blue].map((level) => level.toString(16).padStart(2, "0")).join("")}`;
  }

  set region(region) {
    this.#region = region;
    this.#outline();
  }

  /** Fit the picture into the box, which has no size while it is hidden. */
  place() {
    const { width, height } = this.#canvas;
    const { clientWidth, clientHeight } = this.#box;
    if (!width || !clientWidth) return;
    const fit = Math.min(clientWidth / width, clientHeight / height);
    // Whole factors keep all pixels of one size.
    this.#scale = fit >= 1 ? Math.floor(fit) : fit;
    this.#left = Math.round((clientWidth - width * this.#scale) / 2);
    this.#top = Math.round((clientHeight - height * this.#scale) / 2);
    Object.assign(this.#canvas.style, {
      left: `${this.#left}px`,
      top: `${this.#top}px`,
      width: `${width * this.#scale}px`,
      height: `${height * this.#scale}px`,
    });
    this.#outline();
  }

  /** The pixel of the screen under the pointer. */
  #at(event) {
    const place = this.#box.getBoundingClientRect();
    const within = (value, size) => Math.max(0, Math.min(size - 1, Math.floor(value / this.#scale)));
    return [
      within(event.clientX - place.left - this.#left, this.#canvas.width),
      within(event.clientY - place.top - this.#top, this.#canvas.height),
    ];
  }

  #move(event) {
    if (!this.#canvas.width) return;
    const [x, y] = this.#at(event);
    if (this.#from) {
      this.#region = between(this.#from, [x, y]);
      this.#outline();
    }
    this.#magnify(event, x, y);
  }

  #drop(event) {
    if (!this.#from) return;
    const region = between(this.#from, this.#at(event));
    this.#from = null;
    this.#region = region;
    this.#outline();
    this.#onRegion(region);
  }

  #outline() {
    this.#frame.hidden = this.#region === null;
    if (this.#region === null) return;
    const [x, y, width, height] = this.#region.map((value) => value * this.#scale);
    Object.assign(this.#frame.style, {
      left: `${this.#left + x - 2}px`,
      top: `${this.#top + y - 2}px`,
      width: `${width + 4}px`,
      height: `${height + 4}px`,
    });
  }

  #magnify(event, x, y) {
    const half = (SPAN - 1) / 2;
    const size = LENS / SPAN;
    this.#lens.imageSmoothingEnabled = false;
    this.#lens.fillStyle = "#000";
    this.#lens.fillRect(0, 0, LENS, LENS);
    this.#lens.drawImage(this.#canvas, x - half, y - half, SPAN, SPAN, 0, 0, LENS, LENS);
    this.#lens.strokeStyle = "#4fd1b5";
    this.#lens.lineWidth = 2;
    this.#lens.strokeRect(half * size, half * size, size, size);
    const dragged = this.#from ? ` · ${between(this.#from, [x, y]).slice(2).join("×")}` : "";
    this.#caption.textContent = `${x}, ${y} · ${this.colour(x, y)}${dragged}`;
    this.#magnifier.hidden = false;
    const place = this.#box.getBoundingClientRect();
    const beside = (at, end, own) => (at + APART + own > end ? at - APART - own : at + APART);
    const { offsetWidth, offsetHeight } = this.#magnifier;
    this.#magnifier.style.left = `${beside(event.clientX - place.left, place.width, offsetWidth)}px`;
    this.#magnifier.style.top = `${beside(event.clientY - place.top, place.height, offsetHeight)}px`;
  }
}

/** The region of two of its corners, both within. */
function between([x1, y1], [x2, y2]) {
  return [Math.min(x1, x2), Math.min(y1, y2), Math.abs(x1 - x2) + 1, Math.abs(y1 - y2) + 1];
}
