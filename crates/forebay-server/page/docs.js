// The calls of this server, as its OpenAPI document describes them.

import { byId, el, say, toggle } from "/dashboard/dom.js";
import { theme } from "/dashboard/theme.js";

const METHODS = ["get", "put", "post", "patch", "delete"];

/** What a reference of the document stands for, and its last name. */
function resolve(whole, described) {
  if (!described?.$ref) return [described ?? {}, ""];
  const path = described.$ref.slice(2).split("/");
  return [path.reduce((place, name) => place[name], whole), path.at(-1)];
}

/** A text, in which what stands between backticks is code. */
const told = (text) => text.split("`").map((part, index) => (index % 2 === 1 ? el("code", {}, part) : part));

/** A schema in a line: type, bounds and members. */
function line(whole, schema, depth = 0) {
  const [is, name] = resolve(whole, schema);
  if (depth > 2) return name || "…";
  const inner = (other) => line(whole, other, depth + 1);
  if (is.enum) return is.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (is.const !== undefined) return JSON.stringify(is.const);
  if (is.allOf) return is.allOf.map(inner).join(" with ");
  if (is.oneOf) return is.oneOf.map(inner).join(" or ");
  if (is.not) return "nothing of it";
  if (is.type === "array") return `[${inner(is.items)}, …]`;
  if (is.properties) {
    const optional = (member) => (is.required?.includes(member) ? "" : "?");
    return `{ ${Object.entries(is.properties).map(([member, of]) => `${member}${optional(member)}: ${inner(of)}`).join(", ")} }`;
  }
  return [[].concat(is.type ?? "anything").join(" or "), ...bounds(is)].join(", ");
}

function bounds(schema) {
  const words = {
    minimum: "at least", maximum: "at most", minLength: "characters at least", maxLength: "characters at most",
    pattern: "like", default: "left out:",
  };
  return Object.entries(words).filter(([name]) => name in schema).map(([name, word]) => `${word} ${schema[name]}`);
}

const table = (rows) => el("table", {}, el("tbody", {}, ...rows.map(([head, ...cells]) => (
  el("tr", {}, el("th", { scope: "row" }, el("code", {}, head)), ...cells.map((cell) => el("td", {}, ...told(cell))))))));

const part = (title, ...content) => [el("h4", {}, title), ...content];

function parameters(whole, call) {
  const rows = (call.parameters ?? []).map((one) => [
    one.name, `${one.in}${one.required ? "" : ", can be left out"}`, one.description ?? "", line(whole, one.schema),
  ]);
  return rows.length > 0 ? part("Parameters", table(rows)) : [];
}

function body(whole, call) {
  const taken = call.requestBody;
  if (!taken) return [];
  const types = Object.entries(taken.content).map(([type, { schema }]) => [type, line(whole, schema)]);
  const [is] = resolve(whole, taken.content["application/json"]?.schema);
  const example = is.example ? [el("pre", {}, JSON.stringify(is.example, null, 2))] : [];
  const can = taken.required ? "" : "Can be left out. ";
  return part("Body", el("p", {}, ...told(can + (taken.description ?? is.description ?? ""))), table(types), ...example);
}

function answers(whole, call) {
  const rows = Object.entries(call.responses).map(([status, answer]) => {
    const [is] = resolve(whole, answer);
    const types = Object.entries(is.content ?? {}).filter(([type]) => type !== "application/problem+json");
    const shapes = types.map(([type, { schema }]) => (schema ? line(whole, schema) : type)).join(" or ");
    return [status, is.description, shapes, Object.keys(is.headers ?? {}).join(", ")];
  });
  return part("Answers", table(rows));
}

function scopes(call) {
  const names = (call.security ?? []).flatMap((needed) => Object.values(needed).flat());
  return names.length > 0 ? [el("p", {}, `Needs a token with the scope ${names.join(" or ")}, if the server has tokens.`)] : [];
}

function described(whole, path, method, call) {
  const node = el("details", { className: "call", id: call.operationId });
  node.append(el("summary", {}, el("span", { className: "method" }, method.toUpperCase()), el("code", {}, path),
    el("span", { className: "brief" }, " ", ...told(call.summary ?? ""))));
  node.append(...(call.description ? [el("p", {}, ...told(call.description))] : []), ...scopes(call), ...parameters(whole, call),
    ...body(whole, call), ...answers(whole, call));
  node.words = `${method} ${path} ${node.textContent}`.toLowerCase();
  return node;
}

function show(whole) {
  say(byId("version"), whole.info.version);
  byId("about").append(...told(whole.info.description));
  for (const { name, description } of whole.tags) {
    const calls = Object.entries(whole.paths).flatMap(([path, item]) => METHODS
      .filter((method) => item[method]?.tags.includes(name))
      .map((method) => described(whole, path, method, item[method])));
    byId("contents").append(el("a", { href: `#${name}` }, name));
    byId("calls").append(el("section", { className: "group", id: name }, el("h2", {}, name), el("p", {}, description), ...calls));
  }
  byId("filter").addEventListener("input", ({ target }) => {
    const wanted = target.value.trim().toLowerCase();
    for (const call of document.querySelectorAll(".call")) toggle(call, call.words.includes(wanted));
    for (const group of document.querySelectorAll(".group")) toggle(group, group.querySelector(".call:not([hidden])") !== null);
  });
  byId(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

theme(() => {});
const answer = await fetch("/openapi.json");
if (answer.ok) show(await answer.json());
else say(byId("version"), `The server answers ${answer.status} instead of its document; try again.`);
