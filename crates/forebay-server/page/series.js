// The last hour: rows of figures by time, what they sum up to, and what is drawn of them.

const HOUR = 3600;

/** How many seconds one point of a chart is about, by the range that it shows. */
const STEPS = { 300: 2, 900: 10, 3600: 30 };

let columns = [];
let place = new Map();
/** `[milliseconds, cell, …]`, oldest first. */
let rows = [];

/** Begins with what the server has kept. */
export function load(past) {
  columns = past.columns;
  place = new Map(columns.map((name, index) => [name, index + 1]));
  rows = past.rows;
}

/** Adds one row, unless it is there already; answers false if it is from before the last, as a clock that was set back has it. */
export function push(row) {
  if (rows.length > 0 && row[0] < rows.at(-1)[0]) return false;
  if (rows.length > 0 && row[0] === rows.at(-1)[0]) return true;
  rows.push(row);
  const oldest = row[0] - HOUR * 1000;
  if (rows[0][0] < oldest - 60_000) rows = rows.filter((one) => one[0] >= oldest);
  return true;
}

/** Where the rows of the last `range` seconds begin. */
function begin(range) {
  const last = rows.length > 0 ? rows.at(-1)[0] : 0;
  return rows.findIndex((row) => row[0] > last - range * 1000);
}

/** For how many seconds the row at `index` stands: until the server was started nothing was counted. */
function seconds(index) {
  const before = rows[index - 1] ?? rows[index + 1];
  return before ? Math.min(60, Math.abs(rows[index][0] - before[0]) / 1000) : 1;
}

/** What a range sums up to; figures are asked for by name. */
export function totals(range) {
  const inside = rows.slice(Math.max(0, begin(range)));
  const sum = (name) => {
    const at = place.get(name);
    return inside.reduce((all, row) => all + (row[at] ?? 0), 0);
  };
  return {
    sum,
    /** Classes of `name`, as [bound in seconds, how many within]. */
    classes: (name) => classes(name).map(([bound, column]) => [bound, sum(column)]),
  };
}

/**
 * The points of a chart: times in seconds, and `rate(name)`, `highest(name)`, `sum(name)` with one value for each.
 * Where nothing was seen the value is null.
 */
export function points(range) {
  const step = STEPS[range];
  const bins = [];
  for (let index = Math.max(0, begin(range)); index < rows.length; index += 1) {
    const bin = Math.floor(rows[index][0] / 1000 / step) * step;
    if (bins.at(-1)?.at !== bin) bins.push({ at: bin, rows: [], seconds: 0 });
    bins.at(-1).rows.push(rows[index]);
    bins.at(-1).seconds += seconds(index);
  }
  const each = (name, make) => {
    const at = place.get(name);
    return bins.map((bin) => make(bin.rows.map((row) => row[at]).filter((cell) => cell !== null && cell !== undefined), bin));
  };
  const all = (cells) => cells.reduce((sum, cell) => sum + cell, 0);
  const sum = (name) => each(name, all);
  const last = rows.length > 0 ? rows.at(-1)[0] / 1000 : 0;
  return {
    times: bins.map((bin) => bin.at),
    /** From when to when, whether or not the server has run for so long. */
    span: [last - range, last],
    rate: (name) => each(name, (cells, bin) => all(cells) / Math.max(1, bin.seconds)),
    highest: (name) => each(name, (cells) => (cells.length > 0 ? Math.max(...cells) : null)),
    sum,
    classes: (name) => classes(name).map(([bound, column]) => [bound, sum(column)]),
  };
}

/** The columns that count `name` by classes, each with its bound. */
function classes(name) {
  const before = `${name}_within:`;
  return columns.filter((column) => column.startsWith(before)).map((column) => [Number(column.slice(before.length)), column]);
}

/** The length of time within which a share `q` of `total` ends; a class counts all that end within its bound. */
export function quantile(classes, total, q) {
  if (!(total > 0)) return null;
  const wanted = q * total;
  let [below, under] = [0, 0];
  for (const [bound, within] of classes) {
    if (within >= wanted) {
      const inside = within - under;
      return inside > 0 ? below + (bound - below) * ((wanted - under) / inside) : bound;
    }
    [below, under] = [bound, within];
  }
  return below;
}
