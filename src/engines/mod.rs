//! The engines: one adapter each, and the catalogue `engines.toml` they share. The only room (with
//! that file) that knows an engine's name.
//!
//! What TOML can say stays in TOML; an adapter holds what it can't. `generic` serves engines that
//! exist in TOML alone.

mod acp;
pub mod catalogue;
mod claude;
mod codex;
pub mod conversation;
mod cursor;
pub mod detect;
pub mod dialogue;
mod echo;
mod echo_tui;
pub mod gate_spec;
mod gemini;
mod generic;
mod hermes;
mod openclaw;
mod opencode;
mod own_output;
mod pi;
mod request_plugin;
#[cfg(test)]
mod screen_captures;
pub mod screen_state;
mod tui;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use catalogue::{
    ARGUMENT_LIMIT, AttachmentChannel, Catalogue, EngineId, EngineSpec, InstructionChannel,
    MessageChannel,
};
pub use conversation::{Answer, Query};
pub use dialogue::{Action, Dialogue, EngineEnd, Verdict};
pub use echo::{EchoArgs, echo_main};

/// The echo engine in a terminal.
///
/// # Errors
/// When the terminal is gone.
pub fn echo_tui(args: &EchoArgs, first: Option<String>) -> std::io::Result<()> {
    echo_tui::run(args, first)
}

use crate::context::{
    AttachmentRules, AutoContext, ContextSnapshot, Delivery, FirstMessage, InstructionRoute,
};
use crate::launch::plan::{LaunchPlan, PlanError};
use crate::launch::request::{LaunchRequest, Survey};

/// An agent CLI that omni-run can start.
pub trait Engine: Send + Sync {
    /// Its id.
    fn id(&self) -> &EngineId;

    /// Its entry of the catalogue, after the user's overlay.
    fn catalogue(&self) -> &EngineSpec;

    /// What this engine's first message carries. Required: an adapter without it does not compile,
    /// and a [`FirstMessage`] is made from nothing else. `delivery`: of this engine and model, from
    /// [`Engine::delivery`].
    fn first_message_auto_context(
        &self,
        snapshot: &ContextSnapshot,
        delivery: &Delivery,
    ) -> AutoContext;

    /// What the builders need to know of this engine with a model, in this use.
    fn delivery(&self, window_tokens: u64, mode: LaunchMode) -> Delivery {
        let mut delivery = delivery_of(self.catalogue(), window_tokens);
        let tui = &self.catalogue().tui;
        if mode != LaunchMode::OneShot {
            let with_prompt = tui.attach_with_prompt && mode == LaunchMode::Prompted;
            if !tui.images && !with_prompt {
                delivery.attachments.images.clear();
            }
            delivery.attachments.pdf &= tui.pdf;
            delivery.attachments.office = false;
            if tui.instructions_in_block {
                delivery.instructions = InstructionRoute::HeadOfBlock;
            }
        }
        delivery
    }

    /// The model and window that the engine's own config names, where no `--model` was given.
    fn configured(&self, _host: &Host) -> Configured {
        Configured::default()
    }

    /// Whether a resumed session needs the block again: its transcript holds only what was typed,
    /// and the request plugin puts the block back at the first message.
    fn reapplies_block(&self) -> bool {
        self.catalogue().one_shot.message == MessageChannel::Plugin
    }

    /// Reads what the plan needs of the engine's own configuration.
    fn survey(&self, _host: &Host, _first: &FirstMessage) -> Survey {
        Survey::default()
    }

    /// The launch plan of a one-shot run. Pure.
    ///
    /// # Errors
    /// When the engine has no way to do it.
    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError>;

    /// The launch plan of the engine's own interface in a terminal, with the first message or
    /// without ([`LaunchMode::Prompted`], [`LaunchMode::Wrapped`]). Pure.
    ///
    /// # Errors
    /// When the engine has no way to do it.
    fn plan_tui(
        &self,
        request: &LaunchRequest,
        first: &FirstMessage,
        mode: LaunchMode,
    ) -> Result<LaunchPlan, PlanError> {
        let spec = tui::spec(self.catalogue());
        let mut plan = generic::base(&spec, request, first)?;
        tui::message(&mut plan, &spec, request, first, mode, tui::prefix(&spec, first));
        Ok(plan)
    }

    /// Where it keeps its conversations: a folder, or a file; `None`: nowhere that omni-run knows.
    fn kept_in(&self, _host: &Host) -> Option<PathBuf> {
        None
    }

    /// Looks a conversation up in the engine's own record. Reads only.
    fn look_up(&self, _host: &Host, _query: &Query<'_>) -> Answer {
        Answer::Unknown
    }

    /// The talk over the pipes that this plan needs.
    fn dialogue(&self, plan: &LaunchPlan, first: &FirstMessage) -> Box<dyn Dialogue>;
}

/// The three ways to run an engine (SPEC section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchMode {
    /// On pipes, one answer.
    OneShot,
    /// Its own interface, with a given first message.
    Prompted,
    /// Its own interface as it is.
    Wrapped,
}

/// What an adapter may look at before planning.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// The environment that the engine will get.
    pub env: BTreeMap<String, OsString>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// Where the engine will run.
    pub cwd: PathBuf,
    /// The engine's version, if known.
    pub version: Option<String>,
}

impl Host {
    /// A variable as a path, if it is set and not empty.
    pub fn dir(&self, variable: &str) -> Option<PathBuf> {
        self.env.get(variable).filter(|v| !v.is_empty()).map(PathBuf::from)
    }

    /// A variable as text.
    pub fn var(&self, variable: &str) -> Option<&str> {
        self.env.get(variable).and_then(|v| v.to_str()).filter(|v| !v.is_empty())
    }

    /// A path below the home folder.
    pub fn under_home(&self, tail: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(tail))
    }
}

/// What the engine's own config says of its model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configured {
    /// The model.
    pub model: Option<String>,
    /// Its window, in tokens, where the user set one.
    pub window: Option<u64>,
}

impl Configured {
    /// The window of a launch, in tokens: the user's own where he names no other model, else the
    /// catalogue's for the model that is named or configured.
    pub fn window(&self, spec: &EngineSpec, model: Option<&str>, version: Option<&str>) -> u64 {
        match (model, self.window) {
            (None, Some(window)) => window,
            _ => spec.window(model.or(self.model.as_deref()), version),
        }
    }
}

/// Makes the adapter of an engine of the catalogue.
pub fn engine(id: &str, spec: &EngineSpec) -> Box<dyn Engine> {
    let id = EngineId::new(id);
    let spec = spec.clone();
    match spec.adapter.as_str() {
        "claude" => Box::new(claude::Claude::new(id, spec)),
        "codex" => Box::new(codex::Codex::new(id, spec)),
        "gemini" => Box::new(gemini::Gemini::new(id, spec)),
        "cursor" => Box::new(cursor::Cursor::new(id, spec)),
        "pi" => Box::new(pi::Pi::new(id, spec)),
        "openclaw" => Box::new(openclaw::Openclaw::new(id, spec)),
        "opencode" => Box::new(opencode::Opencode::new(id, spec)),
        "hermes" => Box::new(hermes::Hermes::new(id, spec)),
        "echo" => Box::new(echo::Echo::new(id, spec)),
        _ => Box::new(generic::Generic::new(id, spec)),
    }
}

/// Image files larger than this are refused by the strictest API (5 MB as base64), in bytes.
const COMMON_MAX_IMAGE: u64 = 3_750_000;
/// An image side over this is refused by the strictest API, in pixels.
const COMMON_MAX_SIDE: u32 = 8_000;
/// A PDF over this is refused by the strictest API, in bytes (32 MB a request, as base64).
const COMMON_MAX_PDF: u64 = 20_000_000;
/// A PDF of more pages is refused by the strictest API.
const COMMON_MAX_PAGES: u32 = 100;
/// All attachments of a message, in bytes.
const COMMON_MAX_TOTAL: u64 = 20_000_000;
/// The most images in one request of the strictest API that do not lower the size limit.
const COMMON_MAX_COUNT: usize = 20;

fn delivery_of(spec: &EngineSpec, window_tokens: u64) -> Delivery {
    let a = &spec.attachments;
    let or = |value: u64, common: u64| if value == 0 { common } else { value };
    Delivery {
        window_tokens,
        instructions: match spec.one_shot.instructions {
            InstructionChannel::HeadOfBlock => InstructionRoute::HeadOfBlock,
            InstructionChannel::File
            | InstructionChannel::ConfigValue
            | InstructionChannel::Overlay
            | InstructionChannel::Plugin => InstructionRoute::SystemPrompt,
        },
        attachments: AttachmentRules {
            images: a.images.clone(),
            pdf: a.pdf,
            office: a.office,
            max_image_bytes: or(a.max_image_bytes, COMMON_MAX_IMAGE),
            max_image_side: COMMON_MAX_SIDE,
            max_pdf_bytes: or(a.max_pdf_bytes, COMMON_MAX_PDF),
            max_pdf_pages: COMMON_MAX_PAGES,
            max_total_bytes: COMMON_MAX_TOTAL,
            max_count: COMMON_MAX_COUNT,
        },
        defuse_image_paths: a.channel == AttachmentChannel::PathInText,
    }
}

/// The first lines that every adapter shares: a struct with id and spec, and the three methods that
/// answer from them.
macro_rules! adapter {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub(super) struct $name {
            id: EngineId,
            spec: EngineSpec,
        }

        impl $name {
            pub(super) fn new(id: EngineId, spec: EngineSpec) -> $name {
                $name { id, spec }
            }
        }
    };
}
use adapter;

/// Reads a small text file of the engine's own configuration; anything odd is as if it were absent.
fn read_config(path: &Path) -> Option<String> {
    /// Far over any engine's settings; in bytes.
    const LIMIT: u64 = 4 << 20;
    let meta = std::fs::metadata(path).ok()?;
    (meta.is_file() && meta.len() <= LIMIT).then(|| std::fs::read_to_string(path).ok()).flatten()
}
