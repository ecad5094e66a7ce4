//! Runs the blocks of a page.

use super::page::{Block, Content, Page, Piece};
use crate::common::{may, skip};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the blocks of `page`, called `name`, in a folder of their own, and
/// replaces what they show. Returns what was shown and is not printed.
///
/// # Panics
/// If a command ends with another status than the page says.
pub(super) fn run(page: &mut Page, name: &str, checkout: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let bin = tempfile::tempdir().unwrap();
    programs(bin.path());
    let here = Here {
        folder: folder.path(),
        bin: bin.path(),
    };
    let mut stale = Vec::new();
    for piece in &mut page.pieces {
        let Piece::Block(block) = piece else { continue };
        let at = format!("{name}:{}", block.line);
        for linked in block.values("with") {
            symlink(checkout.join(linked), here.folder.join(linked)).unwrap();
        }
        if let (Some(file), Content::Other(text)) = (block.value("file"), &block.content) {
            std::fs::write(here.folder.join(file), text).unwrap();
        }
        if !block.says("not-run") && can(block, &at) {
            stale.extend(here.block(block, &at));
        }
    }
    stale
}

/// The programs that a reader has: `bentpipe` by name, by cargo and by sudo.
fn programs(bin: &Path) {
    symlink(env!("CARGO_BIN_EXE_bentpipe"), bin.join("bentpipe")).unwrap();
    let cargo =
        "#!/bin/sh\n[ \"$1 $2 $3\" = 'run --release --' ] && shift 3 && exec bentpipe \"$@\"\n";
    for (name, script) in [("sudo", "#!/bin/sh\nexec \"$@\"\n"), ("cargo", cargo)] {
        let path = bin.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// True if this machine has what a block needs; says so in a line if not.
fn can(block: &Block, at: &str) -> bool {
    block.values("needs").all(|needed| match needed {
        "root" => may(at),
        "kernel" if cfg!(feature = "kernel") => may(at),
        "kernel" => {
            skip(at, "the feature kernel");
            false
        }
        program => {
            let there = Command::new("sh")
                .args(["-c", "command -v \"$0\"", program])
                .output();
            let there = there.is_ok_and(|output| output.status.success());
            if !there {
                skip(at, program);
            }
            there
        }
    })
}

/// Where a page runs.
struct Here<'a> {
    folder: &'a Path,
    bin: &'a Path,
}

impl Here<'_> {
    /// Runs a block, replaces what it shows, and returns what was not so.
    fn block(&self, block: &mut Block, at: &str) -> Vec<String> {
        let statuses = block.values("status").map(|n| n.parse().unwrap());
        let statuses: Vec<i32> = statuses.collect();
        let statuses = if statuses.is_empty() {
            vec![0]
        } else {
            statuses
        };
        let mut content = std::mem::replace(&mut block.content, Content::Other(String::new()));
        let mut stale = Vec::new();
        match &mut content {
            Content::Script(text) => {
                self.sh(text, &statuses, at);
            }
            Content::Session(steps) => {
                let last = steps.len().saturating_sub(1);
                for (i, step) in steps.iter_mut().enumerate() {
                    let expected = if i == last { &statuses[..] } else { &[0] };
                    let printed = block.excerpt(&self.sh(&step.command, expected, at));
                    if printed == step.shown {
                        continue;
                    }
                    if !block.says("varies") {
                        stale.push(difference(at, &step.command, &step.shown, &printed));
                    }
                    step.shown = printed;
                }
            }
            Content::Other(_) => {}
        }
        block.content = content;
        stale
    }

    /// Runs a script, and returns what it printed, on stdout and stderr.
    fn sh(&self, script: &str, statuses: &[i32], at: &str) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("sh")
            .args(["-euc", &format!("exec 2>&1\n{script}")])
            .current_dir(self.folder)
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("HOME", self.folder)
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .output()
            .expect("sh runs");
        let text = String::from_utf8_lossy(&output.stdout);
        // By the clock, and only where there is no terminal.
        let lines = text.lines().filter(|line| !is_progress(line));
        // Only in a build without the feature `kernel`.
        let lines = lines.filter(|line| cfg!(feature = "kernel") || !is_to_install(line));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        assert!(
            output
                .status
                .code()
                .is_some_and(|status| statuses.contains(&status)),
            "{at}: not status {statuses:?} of\n{script}\nwhich printed\n{text}"
        );
        text
    }
}

/// True of `runs: 31 of 192`.
fn is_progress(line: &str) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse::<f64>().is_ok();
    matches!(words[..], [what, done, "of", all, ..] if what.ends_with(':') && number(done) && number(all))
}

/// True of what must be installed before a congestion control can be loaded.
fn is_to_install(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("apt-get install ") || line.starts_with("make   # a bentpipe")
}

/// What a page shows that is not printed, and what is.
fn difference(at: &str, command: &str, shown: &str, printed: &str) -> String {
    let mut text = format!("{at}: $ {command}\n");
    let mark = |sign: &str, lines: &str, other: &str| -> String {
        let new = lines
            .lines()
            .filter(|line| !other.lines().any(|o| o == *line));
        new.map(|line| format!("{sign} {line}\n")).collect()
    };
    text.push_str(&mark("-", shown, printed));
    text.push_str(&mark("+", printed, shown));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(text: &str) -> (Vec<String>, String) {
        let mut page = Page::parse(text).unwrap();
        let stale = run(&mut page, "page.md", Path::new("/"));
        (stale, page.to_text())
    }

    #[test]
    fn what_a_page_shows_is_held_against_what_is_printed() {
        let page = "```toml file=x\na\nb\n```\n```console\n$ cat x\na\nc\n$ sudo cat x >y\n```\n";
        let (stale, now) = hold(page);
        assert_eq!(stale, ["page.md:5: $ cat x\n- c\n+ b\n"]);
        let (stale, again) = hold(&now);
        assert!(stale.is_empty() && again == now, "{again}");
        let (stale, _) = hold(&page.replace("console", "console varies"));
        assert!(stale.is_empty());
        let (stale, now) = hold(
            "```console not-run\n$ false\n```\n```console head=1\n$ cargo run --release -- --help\n```\n",
        );
        assert!(stale.len() == 1 && now.contains("TCP over"), "{now}");
    }

    #[test]
    #[should_panic(expected = "page.md:3: not status [0] of\nfalse")]
    fn a_command_that_fails_fails_the_page() {
        hold("text\n\n```sh\nfalse\n```\n");
    }

    #[test]
    fn progress_is_no_output() {
        assert!(is_progress("runs: 31 of 192") && is_progress("geo: 3.5 of 60 s simulated"));
        assert!(!is_progress("runs: many of them") && !is_progress("a 1 of 2"));
    }

    #[test]
    fn a_page_may_show_a_failure() {
        let (stale, _) = hold("```console status=2\n$ bentpipe --no-such 2>/dev/null\n```\n");
        assert!(stale.is_empty(), "{stale:?}");
    }
}
