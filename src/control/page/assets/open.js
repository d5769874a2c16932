// Trades the one-time key in the address's fragment for a session, and goes to the inbox.

import { KEPT } from "/inbox/kept.js";

const key = location.hash.slice(1);
// Out of the address bar and the history, whatever comes of it.
history.replaceState(null, "", location.pathname);

if (key) {
  const said = document.getElementById("said");
  said.textContent = "opening …";
  try {
    const answer = await fetch("/inbox/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ key }),
    });
    const { token, error } = await answer.json();
    if (answer.ok) {
      localStorage.setItem(KEPT, token);
      location.replace("/inbox");
    } else {
      said.textContent = `${error.message}. ${error.hint}`;
    }
  } catch {
    said.textContent = "omni-run serve does not answer. Is it still running?";
  }
}
