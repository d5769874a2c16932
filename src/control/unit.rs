//! The systemd user unit that `serve --print-unit` prints.

use std::path::Path;

/// The text of the unit.
pub fn systemd(program: &Path, arguments: &[String]) -> String {
    let command: Vec<String> = std::iter::once(program.display().to_string())
        .chain(std::iter::once("serve".to_owned()))
        .chain(arguments.iter().cloned())
        .map(|word| quoted(&word))
        .collect();
    format!(
        "\
# ~/.config/systemd/user/omni-run.service
#   omni-run serve --print-unit > ~/.config/systemd/user/omni-run.service
#   systemctl --user enable --now omni-run
[Unit]
Description=omni-run: local HTTP control, with a person in the loop

[Service]
Type=exec
ExecStart={}
Restart=on-failure
RestartSec=2
# 75 another server runs, 77 the token file is open to others, 78 a config file is wrong.
RestartPreventExitStatus=2 75 77 78
UMask=0077
NoNewPrivileges=yes
LimitCORE=0
# Engines that a person has approved go on when the server ends.
KillMode=process

[Install]
WantedBy=default.target
",
        command.join(" ")
    )
}

/// A word of a command line as systemd reads it: `%`, `$` and quotes mean themselves.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '%' => text.push_str("%%"),
            '$' => text.push_str("$$"),
            '\n' => text.push_str("\\n"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_quoted_as_systemd_reads_it() {
        let unit = systemd(Path::new("/opt/my tools/omni-run"), &["--socket=/a%b".to_owned()]);
        assert!(
            unit.contains("ExecStart=\"/opt/my tools/omni-run\" serve \"--socket=/a%%b\"\n"),
            "{unit}"
        );
        assert_eq!(quoted("/usr/bin/omni-run"), "/usr/bin/omni-run");
        assert_eq!(quoted("a\"$b"), "\"a\\\"$$b\"");
    }
}
