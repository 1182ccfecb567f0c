// Gamepads that are plugged in here, as the remote's.

// Of the browser's standard layout: its axes, the buttons that are triggers, and the others in the remote's order.
const AXES = ["X", "Y", "Rx", "Ry"];
const TRIGGERS = { Z: 6, Rz: 7 };
const BUTTONS = [0, 1, 2, 3, 4, 5, 8, 9, 16, 10, 11, 12, 13, 14, 15, 17];

// A stick that nobody touches isn't quite in its middle.
const DEAD = 0.1;

export class Gamepads {
  /** How many the remote has, while they are to be used; 0: none, and what was held is let go of. */
  count = 0;

  #act;
  #told = new Map();

  /** `act` takes each event of the v0 protocol. */
  constructor(act) {
    this.#act = act;
    const look = () => {
      this.#look();
      requestAnimationFrame(look);
    };
    look();
  }

  #look() {
    const here = navigator.getGamepads().filter((pad) => pad !== null).slice(0, this.count);
    const now = new Map(here.flatMap((pad, number) => [...inputs(pad)].map(([name, value]) => [`${number ? 2 : ""}${name}`, value])));
    for (const name of new Set([...this.#told.keys(), ...now.keys()])) {
      const value = now.get(name) ?? 0;
      if (value === (this.#told.get(name) ?? 0)) continue;
      this.#told.set(name, value);
      this.#act([`Joystick${name}Event`, value]);
    }
  }
}

function* inputs({ axes, buttons }) {
  for (const [i, name] of AXES.entries()) yield [`Axis${name}`, Math.abs(axes[i] ?? 0) < DEAD ? 0 : axes[i]];
  for (const [name, i] of Object.entries(TRIGGERS)) yield [`Axis${name}`, buttons[i]?.value ?? 0];
  for (const [number, i] of BUTTONS.entries()) yield [`Button${number}`, Number(buttons[i]?.pressed ?? false)];
}
