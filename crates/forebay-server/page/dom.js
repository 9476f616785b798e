// Elements. Whatever comes from outside enters the page as text here, never as markup.

export const byId = (id) => document.getElementById(id);

/** Makes an element with properties and children; a child that is no node becomes text. */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Shows a text, and touches nothing where it is there already. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Shows a number by its format, and keeps it as it is beside that. */
export function show(node, value, format) {
  say(node, format(value));
  node.dataset.value = String(value);
}

/** Hides `node`, or shows it. */
export function toggle(node, visible) {
  if (node.hidden === visible) node.hidden = !visible;
}

/** Replaces the rows of a table body if `rows`, which are lists of cells, differ from what it has. */
export function fill(body, rows, make) {
  const key = JSON.stringify(rows);
  if (body.shown === key) return;
  body.shown = key;
  body.replaceChildren(...rows.map(make));
}

/** A row whose first `texts` cells are texts, with a header cell in front. */
export function row(cells, texts = 1) {
  return el("tr", {}, ...cells.map((cell, index) => (index === 0
    ? el("th", { scope: "row", className: "text" }, cell)
    : el("td", { className: index < texts ? "text" : "" }, cell))));
}

/** Fills a table in which the last cell is a number, drawn as a bar too. */
export function bars(body, rows, format, empty) {
  const most = Math.max(1e-9, ...rows.map((cells) => cells.at(-1)));
  fill(body, rows, (cells) => {
    const texts = cells.slice(0, -1);
    const tr = row(texts, texts.length);
    const bar = el("i", { ariaHidden: "true" });
    bar.style.width = `${(100 * cells.at(-1)) / most}%`;
    tr.append(el("td", {}, bar, el("span", {}, format(cells.at(-1)))));
    return tr;
  });
  toggle(body.closest("table"), rows.length > 0);
  if (empty) toggle(empty, rows.length === 0);
}
