//! The gallery shows pictures that exist, drawn by commands that are understood.

use super::Cli;
use clap::Parser as _;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn gallery() -> String {
    std::fs::read_to_string(root().join("docs/gallery.md")).expect("docs/gallery.md")
}

/// The words of a command line, with single quotes as in a shell.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The command lines, with those that go on below joined.
fn commands() -> Vec<Vec<String>> {
    let text = gallery().replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| line.starts_with("bentpipe ") || line.starts_with("cp "))
        .map(words)
        .collect()
}

#[test]
fn every_picture_exists_and_is_shown() {
    let text = gallery();
    let shown: BTreeSet<&str> = text
        .split("](images/")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    assert!(shown.len() > 20, "{shown:?}");
    let folder = std::fs::read_dir(root().join("docs/images")).expect("docs/images");
    // Folders hold the pictures of other pages.
    let there: BTreeSet<String> = folder
        .map(|entry| entry.expect("a file"))
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let there: BTreeSet<&str> = there.iter().map(String::as_str).collect();
    assert_eq!(shown, there, "docs/gallery.md and docs/images");
    let commands = commands();
    let written: BTreeSet<&str> = commands
        .iter()
        .flatten()
        .filter_map(|word| word.strip_prefix("docs/images/"))
        .collect();
    assert_eq!(shown, written, "pictures and the commands that write them");
}

#[test]
fn every_command_is_understood_and_its_files_exist() {
    for words in commands() {
        if words[0] == "bentpipe"
            && let Err(error) = Cli::try_parse_from(&words)
        {
            panic!("{}: {error}", words.join(" "));
        }
        for word in words.iter().filter(|word| word.ends_with(".toml")) {
            assert!(root().join(word).exists(), "{word}");
        }
    }
}
