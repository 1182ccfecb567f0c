// The labels of a recording: the document of NAME.labels.json, with undo.

export const EPISODES = "episodes";
export const REWARDS = "rewards";

const MAX_UNDO = 500;

export class Labels {
  #document;
  #past = [];
  #onChange;

  /** `document` is that of NAME.labels.json; `onChange` gets it after each change. */
  constructor(document, onChange) {
    this.#document = document;
    this.#onChange = onChange;
  }

  get document() {
    return this.#document;
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  undo() {
    if (!this.canUndo) return;
    this.#document = this.#past.pop();
    this.#onChange(this.#document);
  }

  /** The labels of a track as [[time, value], …], by time. */
  list(track) {
    if (track === EPISODES) return this.#document.episodes.flatMap(episodeMarks).sort(byTime);
    return track === REWARDS ? this.#document.rewards : (this.#document.sources[track] ?? []);
  }

  /** The label at a time: a source's last value, the state of an episode, or undefined. */
  at(track, time) {
    if (track !== EPISODES) {
      const until = this.list(track).filter(([at]) => (track === REWARDS ? at === time : at <= time));
      return until.at(-1)?.[1];
    }
    const episode = this.#document.episodes.find(({ begin, end }) => begin <= time && (end === null || time <= end));
    return episode && (episode.end === time ? `ended, ${episode.done ?? "otherwise"}` : "running");
  }

  /** Whether the label at exactly this time was accepted as it was read or computed, not entered. */
  wasAccepted(track, time) {
    return (this.#document.proposed?.[track] ?? []).includes(time);
  }

  /** From `time` on, a source is `value`; or a reward of `value` is visible at `time`. */
  set(track, time, value, accepted = false) {
    this.setAll(track, [[time, value, accepted]]);
  }

  /** Set several: [[time, value, whether it was accepted], …]. */
  setAll(track, values) {
    this.#change((next) => {
      const list = track === REWARDS ? next.rewards : (next.sources[track] ??= []);
      for (const [time, value, accepted] of values) {
        put(list, time, value);
        mark(next, track, time, accepted);
      }
    });
  }

  /** Compute the rewards from the labels of sources: `earned` is [{source, scale, begins}], each change is reward. */
  computeRewards(earned) {
    this.#change((next) => {
      next.rewards = next.episodes.flatMap((episode) => {
        return earned.flatMap((table) => changesWithin(next.sources[table.source] ?? [], episode, table));
      });
      next.rewards.sort(byTime);
      for (const [time] of next.rewards) mark(next, REWARDS, time, true);
    });
  }

  remove(track, time) {
    this.#change((next) => {
      if (track === EPISODES) {
        const others = next.episodes.filter(({ begin }) => begin !== time);
        // An end that shares its frame with the next begin stays until that is gone.
        if (others.length === next.episodes.length) for (const each of others) if (each.end === time) unend(each);
        next.episodes = others;
        leaveNoneOpen(next.episodes);
      } else if (track === REWARDS) next.rewards = next.rewards.filter(([at]) => at !== time);
      else next.sources[track] = (next.sources[track] ?? []).filter(([at]) => at !== time);
      mark(next, track, time, false);
    });
  }

  begin(time) {
    this.#change((next) => {
      begin(next.episodes, time);
      mark(next, EPISODES, time, false);
    });
  }

  /** End the last episode before `time`: terminated; again at the same time: truncated, and then not at all. */
  end(time, done = null, reason = "") {
    this.#change((next) => {
      end(next.episodes, time, done, reason);
      mark(next, EPISODES, time, false);
    });
  }

  /** Begin and end episodes as they were recorded: [[time, done, reason], …] in order, `done` null where one begins. */
  acceptEpisodes(events) {
    this.#change((next) => {
      for (const [time, done, reason] of events) {
        if (done === null) begin(next.episodes, time);
        else end(next.episodes, time, done, reason);
        mark(next, EPISODES, time, true);
      }
    });
  }

  #change(edit) {
    const next = structuredClone(this.#document);
    edit(next);
    if (JSON.stringify(next) === JSON.stringify(this.#document)) return;
    this.#past.push(this.#document);
    if (this.#past.length > MAX_UNDO) this.#past.shift();
    this.#document = next;
    this.#onChange(next);
  }
}

function begin(episodes, time) {
  if (episodes.some((episode) => episode.begin === time)) return;
  const before = episodes.filter((episode) => episode.begin < time).at(-1);
  const episode = { begin: time, end: null, done: null, reason: "" };
  if (before && (before.end === null || before.end > time)) {
    // Split the running episode: its end becomes the new one's.
    Object.assign(episode, { end: before.end, done: before.done, reason: before.reason });
    Object.assign(before, { end: time, done: null, reason: "" });
  }
  episodes.push(episode);
  episodes.sort(byBegin);
  leaveNoneOpen(episodes);
}

function end(episodes, time, done, reason) {
  // Where the next one begins in the same frame, the end is of the one before.
  const running = episodes.filter((each) => each.begin < time && (each.end === null || each.end >= time)).at(-1);
  const episode = running ?? episodes.filter((each) => each.begin <= time).at(-1);
  if (!episode) return;
  if (done === null && episode.end === time && episode.done === "truncated") {
    unend(episode);
    leaveNoneOpen(episodes);
  } else {
    const again = episode.end === time && episode.done === "terminated" ? "truncated" : "terminated";
    Object.assign(episode, { end: time, done: done ?? again, reason });
  }
}

/** Say of the label at `time` whether it was accepted. */
function mark(document, track, time, accepted) {
  const times = (document.proposed?.[track] ?? []).filter((at) => at !== time);
  if (accepted) times.push(time);
  if (times.length || document.proposed?.[track]) (document.proposed ??= {})[track] = times.sort((a, b) => a - b);
}

/** The changes of a source within an episode as [[time, amount], …], from `begins`, or its value at the beginning. */
function changesWithin(steps, { begin, end }, { scale, begins }) {
  let last = begins ?? steps.filter(([at]) => at <= begin).at(-1)?.[1] ?? undefined;
  const changes = [];
  for (const [at, value] of steps) {
    if (at <= begin || value === null || (end !== null && at > end)) continue;
    if (last !== undefined && value !== last) changes.push([at, (value - last) * scale]);
    last = value;
  }
  return changes;
}

function put(list, time, value) {
  const same = list.findIndex(([at]) => at === time);
  if (same >= 0) list[same] = [time, value];
  else list.push([time, value]);
  list.sort(byTime);
}

/** Only the last episode may have no end; others end with the next one's beginning. */
function leaveNoneOpen(episodes) {
  for (let i = 0; i + 1 < episodes.length; i++) episodes[i].end ??= episodes[i + 1].begin;
}

function byBegin(a, b) {
  return a.begin - b.begin;
}

function unend(episode) {
  Object.assign(episode, { end: null, done: null, reason: "" });
}

function episodeMarks({ begin, end, done, reason }) {
  const ended = reason ? `${done}: ${reason}` : (done ?? "ended otherwise");
  return [[begin, "begins"], ...(end === null ? [] : [[end, ended]])];
}

function byTime([a], [b]) {
  return a - b;
}
