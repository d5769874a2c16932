//! `omni-run serve …`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::Args;

/// `omni-run serve …`
#[derive(Debug, Args)]
#[command(after_help = "\
Listens on loopback only. Programs read the token from the file `api-token` and the port from \
`serve-port`, both beside the store (`omni-run store path`), and send the token as `Authorization: \
Bearer TOKEN`. With it they can look and ask; what they ask for waits until you decide: `omni-run \
inbox`. GET /openapi.json describes each route. SIGTERM or Ctrl-C ends the server.

Ends with 73 where the port or a file cannot be had, 75 where a server runs already, 77 where the token \
file is open to others.

Examples:
  omni-run serve
  omni-run serve --port 0 --socket \"$XDG_RUNTIME_DIR/omni-run.sock\"
  omni-run serve --print-unit > ~/.config/systemd/user/omni-run.service")]
pub struct ServeArgs {
    /// The port on 127.0.0.1 and ::1; 0 takes a free one [default: 6287]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Listen on a socket file (0600) too
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Listen on the socket file only
    #[arg(long, requires = "socket", conflicts_with = "port")]
    pub no_tcp: bool,
    /// Make a new token and end; a running server takes it at once
    #[arg(long)]
    pub rotate_token: bool,
    /// Print a systemd user unit with these options and end
    #[arg(long, conflicts_with = "rotate_token")]
    pub print_unit: bool,
}
