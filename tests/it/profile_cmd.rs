//! `omni-run profile`, `config` and `store`.

use crate::support::home::write;
use crate::support::{Finished, TestHome, run};

fn omni(home: &TestHome, args: &[&str]) -> Finished {
    run(home.omni().args(args), "")
}

#[test]
fn s25_the_profile_is_edited_shown_and_switched() {
    let home = TestHome::new();
    let file = home.config().join("omni-run/profile.md");
    let path = omni(&home, &["profile", "path"]).expect_success();
    assert_eq!(path.stdout, format!("{}\n", file.display()));
    let none = omni(&home, &["profile"]).expect_success();
    assert!(none.stdout.is_empty() && none.stderr.contains("profile edit"), "{}", none.stderr);

    // A shell command with arguments, as git takes it; VISUAL wins.
    home.set_env("EDITOR", "false");
    home.set_env("VISUAL", "f() { echo \"I am Ann.\" > \"$2\"; }; f --wait");
    omni(&home, &["profile", "edit"]).expect_success();
    assert_eq!(omni(&home, &["profile", "show"]).expect_success().stdout, "I am Ann.\n");

    let config = home.config().join("omni-run/config.toml");
    write(&config, "# mine\nchip = true # keep\n\n[models]\n");
    omni(&home, &["profile", "off"]).expect_success();
    let text = std::fs::read_to_string(&config).expect("config");
    assert_eq!(text, "profile = false\n# mine\nchip = true # keep\n\n[models]\n");
    assert_eq!(omni(&home, &["docs", "preview"]).expect_success().stdout, "");
    let shown = omni(&home, &["profile", "show"]).expect_success();
    assert!(shown.stderr.contains("off (config.toml)"), "{}", shown.stderr);
    omni(&home, &["profile", "on"]).expect_success();
    assert!(omni(&home, &["docs", "preview"]).stdout.contains("I am Ann."));

    home.set_env("OMNI_RUN_PROFILE", "off");
    let on = omni(&home, &["profile", "on"]).expect_success();
    assert!(on.stderr.contains("OMNI_RUN_PROFILE"), "{}", on.stderr);
}

#[test]
fn a_failing_editor_and_a_profile_over_16_kb_are_said() {
    let home = TestHome::new();
    home.set_env("EDITOR", "exit 3;");
    let failed = omni(&home, &["profile", "edit"]);
    assert_eq!(failed.code(), 73);
    assert!(failed.stderr.contains("ended with") && failed.stderr.contains("VISUAL"));
    write(home.config().join("omni-run/profile.md"), "x".repeat(16 * 1024 + 1));
    let large = omni(&home, &["profile", "show"]).expect_success();
    assert!(large.stderr.contains("over 16 KB"), "{}", large.stderr);
}

#[test]
fn a_config_that_is_wrong_is_not_written_to() {
    let home = TestHome::new();
    let config = home.config().join("omni-run/config.toml");
    write(&config, "profil = true\n");
    let refused = omni(&home, &["profile", "off"]);
    assert_eq!(refused.code(), 78);
    assert!(refused.stderr.contains("config.toml:1"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&config).expect("config"), "profil = true\n");
    // Paths are told all the same.
    for args in [["profile", "path"], ["config", "path"], ["store", "path"]] {
        omni(&home, &args).expect_success();
    }
}

#[test]
fn s93_config_show_says_where_each_value_came_from() {
    let home = TestHome::new();
    write(home.config().join("omni-run/config.toml"), "secrets = 'deny'\n[models]\ncodex = 'm'\n");
    home.set_env("OMNI_RUN_CHIP", "off");
    let shown = omni(&home, &["config"]).expect_success().stdout;
    for line in [
        "secrets = deny  (config.toml)",
        "chip = false  (environment)",
        "profile = true  (built in)",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
    assert!(shown.contains("config.toml  (the settings above)"), "{shown}");
    assert!(shown.contains("engines.toml  (not there)"), "{shown}");
}

#[test]
fn s64_store_path_check_backup() {
    let home = TestHome::new();
    let path = omni(&home, &["store", "path"]).expect_success().stdout;
    assert_eq!(path.trim_end(), home.data().join("omni-run/omni-run.db").to_str().expect("UTF-8"));
    assert_eq!(omni(&home, &["store", "backup", "b.db"]).code(), 66, "no store yet");
    omni(&home, &["echo", "-p", "hi"]).expect_success();
    let check = omni(&home, &["store", "check"]).expect_success();
    assert!(check.stdout.contains("1 session") && check.stdout.contains("no damage found"));
    omni(&home, &["store", "backup", "b.db"]).expect_success();
    assert!(home.home().join("b.db").is_file());
    assert_eq!(omni(&home, &["store", "backup", "b.db"]).code(), 73, "never over a file");
    write(path.trim_end(), "not a database at all, but long enough to look at\n".repeat(100));
    let damaged = omni(&home, &["store", "check"]);
    assert_eq!(damaged.code(), 70, "{}", damaged.stderr);
}
