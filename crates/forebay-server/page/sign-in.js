// The question for a token.

import { byId, say, toggle } from "/dashboard/dom.js";
import { session } from "/dashboard/server.js";

const dialog = byId("sign-in");
let isAsking = false;

/** Asks for a token until there is one; `why` says what was wrong with the last. */
export function signIn(why) {
  isAsking = true;
  if (why !== null) {
    say(byId("sign-in-why"), why);
    byId("sign-in-why").className = "wrong";
  }
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => {
    byId("sign-in-form").addEventListener("submit", (event) => {
      event.preventDefault();
      session.token = byId("token").value;
      byId("token").value = "";
      isAsking = false;
      dialog.close();
      toggle(byId("leave"), true);
      resolve();
    }, { once: true });
  });
}

// Without a token there is nothing behind the question. A browser that is asked twice closes it all the same.
dialog.addEventListener("cancel", (event) => event.preventDefault());
dialog.addEventListener("close", () => isAsking && dialog.showModal());
byId("leave").addEventListener("click", () => {
  session.forget();
  location.reload();
});
toggle(byId("leave"), session.token !== null);
