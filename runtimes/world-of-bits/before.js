// Runs in each of miniwob's pages before its own scripts; `wob` is what runtime.toml calls.
(() => {
  "use strict";
  if (window !== window.top) return;

  // What is there for people who play by hand: the cover with START on it, scores, clocks, where one clicked.
  const style = new CSSStyleSheet();
  style.replaceSync(`
    html { overflow: hidden; }
    #sync-task-cover, #reward-display, #reward-reason, #click-canvas, #query-pretty ~ #query { display: none !important; }
    #query-wrap { top: 0 !important; }
  `);
  // Where Universe's browser had them, below its own bars. Flight searches are too tall for that.
  const [left, top] = location.pathname.startsWith("/flight/") ? [0, 0] : [10, 75];
  const pixels = (count) => `${count / devicePixelRatio}px`;
  style.insertRule(`body { position: relative; margin: ${pixels(top)} 0 0 ${pixels(left)} !important; }`);
  document.adoptedStyleSheets.push(style);

  // These compare where one clicks with places that they count from their own corner, as if that were the window's.
  if (/(bisect-angle|circle-center|find-midpoint|hot-cold|right-angle)\.html$/.test(location.pathname)) {
    for (const [name, shift] of Object.entries({ pageX: left, pageY: top })) {
      const { get } = Object.getOwnPropertyDescriptor(MouseEvent.prototype, name);
      Object.defineProperty(MouseEvent.prototype, name, {
        get() {
          return get.call(this) - shift / devicePixelRatio;
        },
      });
    }
  }

  // The page sets it last of all when an episode ends: the reward is looked at in the same moment.
  let done = false;
  Object.defineProperty(window, "WOB_DONE_GLOBAL", {
    get: () => done,
    set: (value) => {
      done = value;
      if (value) pluriverse.push();
    },
  });

  let used = false;
  window.wob = {
    // Some pages remember the episode before. They are loaded anew, and the episode begins in the new document. So does
    // one of a page that is chosen by the seed.
    begin: ({ env, seed }) => {
      Math.seedrandom(seed);
      const page = env.pages ? `/${env.pages[Math.floor(Math.random() * env.pages.length)]}` : location.pathname;
      if (page !== location.pathname) {
        location.replace(page);
        return new Promise(() => {});
      }
      if (used && env.anew) {
        location.reload();
        return new Promise(() => {});
      }
      used = true;
      document.activeElement?.blur();
      Math.seedrandom(seed);
      core.startEpisodeReal();
    },
    instruction: () => {
      const told = core.getUtterance();
      return typeof told === "string" ? told : told.utterance;
    },
    reward: ({ env }) => (env.decay ? WOB_REWARD_GLOBAL : WOB_RAW_REWARD_GLOBAL),
    reason: () => done && (WOB_REWARD_REASON || true),
    // The task and its instruction, in pixels of the screen.
    picture: () => {
      const boxes = ["wrap", "query-wrap"].flatMap((id) => document.getElementById(id)?.getBoundingClientRect() ?? []);
      const extent = (key) => Math.round(Math.max(...boxes.map((box) => box[key])) * devicePixelRatio);
      return [left, top, extent("right") - left, extent("bottom") - top];
    },
  };
})();
