// Numbers as people read them. What is not known is an en dash.

const NONE = "–";

/** A reward: as many decimals as it has, two at most. */
export function number(value) {
  if (value == null) return NONE;
  const text = Math.abs(value).toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 1000 ? 2 : 0 });
  return value < 0 && text !== "0" ? `−${text}` : text;
}

/** Seconds as minutes and seconds. */
export function duration(seconds) {
  if (seconds == null) return NONE;
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** [value, unit] of a time in milliseconds. Clocks agree to a millisecond or so: below zero is zero. */
export function milliseconds(value) {
  if (value == null) return [NONE, ""];
  if (value >= 10_000) return [(value / 1000).toFixed(0), "s"];
  return [value < 10 ? Math.max(value, 0).toFixed(1) : value.toFixed(0), "ms"];
}

/** A value of a source. */
export function shown(value) {
  if (value == null) return NONE;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : `“${value}”`;
}

/** How sure something is. */
export function percent(share) {
  return share == null ? NONE : `${Math.round(share * 100)} %`;
}

/** A rate to a decimal, without a meaningless decimal. */
export function rate(value) {
  return value == null ? NONE : String(Math.round(value * 10) / 10);
}
