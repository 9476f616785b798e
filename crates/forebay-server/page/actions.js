// What operators can do from here, each behind a confirmation.

import { byId, el, say, toggle } from "/dashboard/dom.js";
import { Refused, call } from "/dashboard/server.js";

const part = encodeURIComponent;

/** To go through all of a store may take as long as the server lets a request take. */
const PATIENCE = 120_000;

const post = (path, body) => [path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } }];

const ACTIONS = [
  {
    id: "invalidate",
    title: "Invalidate",
    fields: [["space", "Space"], ["by", "What", ["id", "tag", "pattern"]], ["name", "Id, tag or pattern"]],
    hint: "In a pattern * stands for any text and ? for one character.",
    asks: ({ space, by, name }) => `Invalidate ${by === "pattern" ? "every id that fits the pattern" : `the ${by}`} “${name}” in the space “${space}”? What is asked for next is loaded again.`,
    call({ space, by, name }) {
      if (by === "pattern") return post(`/v1/invalidate/${part(space)}?matching=${part(name)}`, {});
      return post(`/v1/invalidate/${part(space)}`, by === "id" ? { ids: [name] } : { tags: [name] });
    },
    async told(response) {
      if (response.status === 204) return "Invalidated.";
      const sweep = response.headers.get("content-type") ? await response.json() : {};
      if (sweep.running) return "It goes on in the server; its log will say what was done.";
      if (sweep.invalidated !== undefined && response.status === 200) return `Invalidated: ${sweep.invalidated}.`;
      return "Done in this process; Redis will be told as soon as it can be asked.";
    },
  },
  {
    id: "reset",
    title: "Reset a limit",
    fields: [["policy", "Policy"], ["subject", "Subject"]],
    hint: "A subject as it was counted, such as user:42.",
    asks: ({ policy, subject }) => `Give “${subject}” the whole quota of the policy “${policy}” back?`,
    call: ({ policy, subject }) => [`/v1/limits/${part(policy)}/${part(subject)}`, { method: "DELETE" }],
    told: () => "The quota is whole again.",
  },
  {
    id: "release",
    title: "Release a lock",
    fields: [["name", "Lock"]],
    hint: "For a holder that is gone and left the lock behind.",
    asks: ({ name }) => `Take the lock “${name}” from whoever holds it? Until its holder asks to renew it, two may believe that they have it.`,
    call: ({ name }) => [`/ops/locks/${part(name)}`, { method: "DELETE" }],
    told: async (response) => ((await response.json()).released ? "The lock is free." : "Nobody held that lock."),
  },
];

/** Shows the actions to whoever may take them. */
export function offer(rights) {
  const mayAct = rights.scopes.includes("ops");
  if (mayAct && byId("action-forms").childElementCount === 0) byId("action-forms").append(...ACTIONS.map(form));
  if (!mayAct) byId("action-forms").replaceChildren();
  toggle(byId("actions"), mayAct);
}

function form(action) {
  const fields = action.fields.map(([name, label, choices]) => {
    const id = `${action.id}-${name}`;
    const input = choices
      ? el("select", { id, name }, ...choices.map((choice) => el("option", { value: choice }, choice)))
      : el("input", { id, name, required: true, autocomplete: "off", spellcheck: false });
    return el("p", { className: "field" }, el("label", { htmlFor: id }, label), input);
  });
  const node = el("form", { id: `form-${action.id}`, className: "panel w4" }, el("h3", {}, action.title), ...fields,
    el("p", { className: "hint" }, action.hint), el("p", { className: "buttons" }, el("button", { className: "main" }, `${action.title}…`)));
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    take(action, Object.fromEntries(new FormData(node)));
  });
  return node;
}

async function take(action, given) {
  say(byId("done"), "");
  if (!(await isConfirmed(action.title, action.asks(given)))) return say(byId("done"), "Nothing was done.");
  try {
    const [path, options] = action.call(given);
    const response = await call(path, { ...options, signal: AbortSignal.timeout(PATIENCE) });
    say(byId("done"), await action.told(response));
  } catch (error) {
    const isRefused = error instanceof Refused && error.status < 500;
    const said = isRefused ? "Nothing was done" : "It is not known whether this was done";
    say(byId("done"), `${said}: ${error.message}`);
  }
}

/** Asks, and waits for the answer; whoever closes the question has said no. */
function isConfirmed(title, question) {
  const dialog = byId("confirm");
  say(byId("t-confirm"), `${title}?`);
  say(byId("confirm-what"), question);
  say(byId("confirm-yes"), title);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

byId("confirm-yes").addEventListener("click", () => byId("confirm").close("yes"));
byId("confirm-no").addEventListener("click", () => byId("confirm").close("no"));
