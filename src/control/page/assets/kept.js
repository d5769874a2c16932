// What this origin's storage keeps: the session's token. Other ports of this machine have another
// storage, though the browser sends them the same cookies.

/** Its name there. */
export const KEPT = "omni-run-inbox-token";
