//! `omni-run man`: manual pages, made from the command line itself. The main page also has what holds
//! for every command: exit codes, variables, files.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::print;
use crate::cli::{Cli, ManArgs};
use crate::error::{ExitKind, Failure};
use crate::ui::Ui;

/// omni-run's own exit codes (SPEC section 11), for people.
const EXIT_CODES: [(&str, &str); 11] = [
    ("0", "done"),
    ("2", "the command line is wrong"),
    ("64", "the prompt cannot be sent: empty, too large, or not UTF-8"),
    ("66", "a project, file, recipe or session that was named is not there"),
    ("69", "the engine is not found or will not start"),
    ("70", "a fault of omni-run itself, or a damaged store"),
    ("73", "a file cannot be created"),
    ("75", "another run holds the key of --no-overlap, or the store is locked"),
    ("77", "refused by a policy"),
    ("78", "a config file or a recipe is wrong"),
    ("124", "the time-out ended the engine"),
];

/// The variables that omni-run reads.
const VARIABLES: [(&str, &str); 6] = [
    (
        "OMNI_RUN_CONFIG_DIR, OMNI_RUN_DATA_DIR",
        "the folders, before XDG_CONFIG_HOME and XDG_DATA_HOME",
    ),
    ("OMNI_RUN_DEFAULT_ENGINE", "the engine when none is named"),
    ("OMNI_RUN_SECRETS", "secrets in docs: warn, deny or off"),
    (
        "OMNI_RUN_CHIP, OMNI_RUN_PROFILE, OMNI_RUN_RETENTION_DAYS",
        "as the settings of the same name",
    ),
    ("OMNI_RUN_LOG_LEVEL", "how much --log-file gets: error, warn, info, debug or trace"),
    ("AMC_DISABLE_DOCS_INJECTION", "1: no docs and no catalogue go along"),
];

/// Where things are.
const FILES: [(&str, &str); 5] = [
    ("PROJECT/.claude/docs/", "the docs of a project; rag/ below it is listed, not sent"),
    ("PROJECT/.claude/recipes/NAME.md", "the recipes of a project"),
    ("~/.config/omni-run/", "config.toml, engines.toml, instructions.md, profile.md, recipes/"),
    ("~/.local/share/omni-run/omni-run.db", "the store"),
    ("~/.local/share/omni-run/spool/", "sessions that the store could not take yet"),
];

/// Prints the main page, or writes all pages.
pub(super) fn man(args: &ManArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let Some(dir) = &args.dir else {
        let page = page(&root).map_err(anyhow::Error::from)?;
        return print(ui, &String::from_utf8_lossy(&page));
    };
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(ExitKind::CannotCreate, format!("{}: {error}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let mut written = 0;
    let mut left = vec![&root];
    while let Some(command) = left.pop() {
        let path = dir.join(format!("{}.1", name(command)));
        page(command)
            .and_then(|page| std::fs::write(&path, page))
            .map_err(|error| failed(&path, error))?;
        written += 1;
        left.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
    }
    ui.status(&format!("{written} pages in {}", dir.display()));
    Ok(ExitCode::SUCCESS)
}

/// `omni-run-docs-add`
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .source(format!("omni-run {}", env!("CARGO_PKG_VERSION")))
        .manual("omni-run");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (before, examples) = help.split_once("Examples:\n").unwrap_or((&help, ""));
    let (examples, after) = examples.split_once("\n\n").unwrap_or((examples, ""));
    paragraphs(before, &mut page)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if !examples.is_empty() {
        section("EXAMPLES", &mut page)?;
        as_it_is(examples, &mut page)?;
        paragraphs(after, &mut page)?;
    }
    if name(command) == "omni-run" {
        for (title, entries) in
            [("EXIT STATUS", &EXIT_CODES[..]), ("ENVIRONMENT", &VARIABLES), ("FILES", &FILES)]
        {
            list(title, entries, &mut page)?;
        }
    } else {
        section("SEE ALSO", &mut page)?;
        text("omni-run(1)", &mut page)?;
    }
    Ok(page)
}

fn section(title: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    roff.to_writer(page)
}

/// Text with its blank lines; what is indented in it keeps its lines.
fn paragraphs(help: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    for paragraph in help.split("\n\n").filter(|text| !text.trim().is_empty()) {
        page.write_all(b".PP\n")?;
        if paragraph.lines().skip(1).any(|line| line.starts_with(' ')) {
            as_it_is(paragraph, page)?;
        } else {
            text(paragraph.trim(), page)?;
        }
    }
    Ok(())
}

fn as_it_is(lines: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    page.write_all(b".nf\n")?;
    for line in lines.lines() {
        text(line, page)?;
    }
    page.write_all(b".fi\n")
}

fn text(line: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.text([roman(line)]);
    roff.to_writer(page)
}

fn list(title: &str, entries: &[(&str, &str)], page: &mut Vec<u8>) -> std::io::Result<()> {
    section(title, page)?;
    for (what, means) in entries {
        let mut roff = Roff::new();
        roff.control("TP", []);
        roff.text([bold(*what)]);
        roff.text([roman(*means)]);
        roff.to_writer(&mut *page)?;
    }
    Ok(())
}
