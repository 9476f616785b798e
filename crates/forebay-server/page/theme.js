// Light, dark, or as the system has it.

import { byId, say } from "/dashboard/dom.js";

const KEY = "forebay-theme";
const THEMES = ["system", "light", "dark"];

/** Applies the theme that was chosen last, and tells `changed` of every other. */
export function theme(changed) {
  const apply = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    say(byId("theme"), `Theme: ${name}`);
  };
  let chosen = Math.max(0, THEMES.indexOf(localStorage.getItem(KEY)));
  apply(THEMES[chosen]);
  byId("theme").addEventListener("click", () => {
    chosen = (chosen + 1) % THEMES.length;
    localStorage.setItem(KEY, THEMES[chosen]);
    apply(THEMES[chosen]);
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
