//! The program as its users run it: commands, launches with small script engines, the field cases.
//! The real engines are in `tests/real`.

#[path = "../support/pty_driver.rs"]
mod pty_driver;
#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod compile_fail;
mod completions_cmd;
mod control_api;
mod control_attacks_door;
mod control_attacks_load;
mod control_attacks_names;
mod control_attacks_queue;
mod control_attacks_token;
mod control_crash;
mod control_files;
mod control_launch;
mod control_openapi;
mod control_queue;
mod control_quota;
mod control_readme;
mod control_serve;
mod docs_cmd;
mod docs_names;
mod engines_cmd;
mod export_cmd;
mod help;
mod inbox_cmd;
mod invisible;
mod launch;
mod launch_cron;
mod launch_ends;
mod launch_store;
mod log_file;
mod man_cmd;
mod profile_cmd;
mod project_cmd;
mod readme;
mod recipe_cmd;
mod replies;
mod schedule_cmd;
mod script_engine;
mod script_output;
mod search_cmd;
mod sessions_cmd;
mod sessions_rm_cmd;
mod share_cmd;
mod stand_ins;
mod tidy;
mod tries;
mod tui_echo;
mod wrapped;
mod wrapped_end;
mod wrapped_gate;
mod wrapped_input;
mod wrapped_output;
