// Trades the one-time key in the address's fragment for a session, and goes to the inbox.

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
    if (answer.ok) {
      location.replace("/inbox");
    } else {
      const { error } = await answer.json();
      said.textContent = `${error.message}. ${error.hint}`;
    }
  } catch {
    said.textContent = "omni-run serve does not answer. Is it still running?";
  }
}
