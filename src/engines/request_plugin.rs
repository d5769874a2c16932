//! Request plugins: small files of ours that an engine loads for one launch and that put the block
//! in front of the session's first operator message on the wire, so that the engine's own history
//! keeps only what was typed. This file writes what a plugin reads; the plugins are in `plugins/`.

use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::launch::plugin_report::PluginReport;

/// The variable that names the plugin's orders.
const VARIABLE: &str = "OMNI_RUN_PLUGIN";

/// What a plugin is to do besides putting the block in front.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Orders {
    /// The engine's own channel may alter the text: the plugin puts the exact one in its place.
    pub(super) exact_text: bool,
    /// The plugin is the route of the instructions.
    pub(super) instructions: bool,
    /// The plugin adds the attachments.
    pub(super) attachments: bool,
}

/// Adds the plugin's files and its variable to the plan. Returns the folder for the plugin itself.
pub(super) fn add(
    plan: &mut LaunchPlan,
    request: &LaunchRequest,
    first: &FirstMessage,
    orders: Orders,
) -> PathBuf {
    let dir = request.run_dir.join("plugin");
    let resumed = request.resume.is_some();
    let prefix = first.sent().prefix();
    let prefix_file = (!prefix.is_empty()).then(|| plan.file(dir.join("prefix.txt"), prefix));
    // On a resume the first message is an older one; its exact text gives the same bytes again.
    let exact = match &request.resume {
        None => orders.exact_text.then(|| first.display().as_str()),
        Some(_) => request.first_display.as_deref(),
    };
    let display_file = exact.map(|text| plan.file(dir.join("display.txt"), text));
    let instructions_file = first
        .auto()
        .instructions()
        .filter(|_| orders.instructions)
        .map(|text| plan.file(dir.join("instructions.md"), text));
    let attachments: Vec<_> = first
        .auto()
        .attachments()
        .iter()
        .filter(|attachment| orders.attachments && attachment.by_path.is_none())
        .map(|a| json!({"path": a.path, "mime": a.mime, "kind": a.kind, "name": a.shown}))
        .collect();
    let receipt = PluginReport::place(&request.run_dir);
    let file = json!({
        "version": 1,
        "prefix_file": prefix_file,
        "display_file": display_file,
        "instructions_file": instructions_file,
        "attachments": attachments,
        "receipt_file": receipt,
        "resume": resumed,
        "first_message": request.first_message,
    });
    let orders_file = plan.file(dir.join("orders.json"), file.to_string());
    plan.env.push((VARIABLE.to_owned(), orders_file.into()));
    plan.plugin_receipt = Some(receipt);
    plan.block_on_wire = prefix_file.is_some();
    dir
}
