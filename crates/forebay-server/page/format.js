// Numbers as people read them. What is not known is a dash.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const NONE = "–";

const known = (value) => typeof value === "number" && Number.isFinite(value);

export function count(value) {
  if (!known(value)) return NONE;
  return Math.abs(value) >= 1e7 ? short.format(value) : whole.format(value);
}

export const rate = (value) => (known(value) ? `${digits.format(value)}/s` : NONE);
export const ratio = (value) => (known(value) ? `${(100 * value).toFixed(1)} %` : NONE);
export const number = (value) => (known(value) ? digits.format(value) : NONE);

/** A length of time in seconds. */
export function seconds(value) {
  if (!known(value)) return NONE;
  if (value === 0) return "0 s";
  if (value < 1e-3) return `${digits.format(value * 1e6)} µs`;
  if (value < 1) return `${digits.format(value * 1e3)} ms`;
  return `${digits.format(value)} s`;
}

export function bytes(value) {
  if (!known(value)) return NONE;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  return `${digits.format(value / 1024 ** power)} ${units[power]}`;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const hours = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const days = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

export const time = (ms) => clock.format(ms);
export const hour = (ms) => hours.format(ms);
/** Labels of an axis: with seconds only where two would be the same without. */
export function moments(times) {
  const labels = times.map(hour);
  return new Set(labels).size < labels.length ? times.map(time) : labels;
}
/** A date such as 2026-05-13. */
export const day = (date) => days.format(Date.parse(`${date}T00:00:00Z`));
