//! `omni-run schedule …`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::RecipeRunArgs;

/// `omni-run schedule …`
#[derive(Debug, Args)]
#[command(after_help = "\
The recipe, its values and the engine are checked now. What is printed works where cron starts it: \
with the absolute path of omni-run, and with the PATH and the folders of the shell that you call this \
from. Variables of that shell are not in it; an engine that is logged in by one needs it there too.

Five fields: minute, hour, day, month, weekday (0 and 7 are Sunday), with names, ranges 1-5, lists \
1,15 and steps */15; or @hourly, @daily, @weekly, @monthly, @yearly. Where day and weekday are both \
given a day counts when either fits.

Examples:
  omni-run schedule changes --cron \"0 7 * * mon-fri\" --set since=yesterday --timeout 20m
  omni-run schedule tidy --cron @daily --no-overlap --format systemd
  (crontab -l; omni-run schedule tidy --cron @daily --format crontab) | crontab -")]
pub struct ScheduleArgs {
    /// When, as a cron expression
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: String,
    /// This form only
    #[arg(long, value_enum)]
    pub format: Option<ScheduleFormat>,
    /// `--log-file` of the command line, which the job gets.
    #[arg(skip)]
    pub log_file: Option<PathBuf>,
    /// The recipe and how it runs.
    #[command(flatten)]
    pub recipe: RecipeRunArgs,
}

/// The form of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleFormat {
    /// A line for `crontab -e`
    Crontab,
    /// A service and its timer
    Systemd,
}
