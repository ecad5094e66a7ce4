//! Our own scripts: all pass on profile `linux`.

use bentpipe_packetdrill::{Settings, Suite, Verdict};
use std::path::{Path, PathBuf};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    files
}

fn suite() -> Suite {
    let settings = Settings::default();
    let mut suite = Suite::new(&settings).expect("a kernel");
    for path in scripts() {
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_name().expect("a name").to_string_lossy();
        if let Err(errors) = suite.add(&name, &text, &settings) {
            panic!("{}", errors.render(false));
        }
    }
    suite
}

#[test]
fn our_own_scripts_pass() {
    let suite = suite();
    assert!(suite.scripts.len() >= 10);
    let others: Vec<_> = suite
        .scripts
        .iter()
        .filter(|report| report.verdict != Verdict::Pass)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    assert!(suite.passes());
}

#[test]
fn a_second_run_gives_the_same() {
    assert_eq!(suite(), suite());
}

/// A wrong number anywhere in a script is found: the scripts test something.
#[test]
fn a_script_that_expects_something_else_fails() {
    let settings = Settings::default();
    let changes = [
        ("slow-start.pkt", "10001:14001(4000)", "10001:13001(3000)"),
        (
            "sack-recovery.pkt",
            "tcpi_snd_ssthresh == 8",
            "tcpi_snd_ssthresh == 6",
        ),
        ("retransmission-timeout.pkt", "+.300~+.310", "+.200~+.210"),
        (
            "limited-transmit.pkt",
            "> . 10001:11001(1000)",
            "> . 1:1001(1000)",
        ),
        (
            "delayed-ack.pkt",
            "sack 5001:6001 3001:4001",
            "sack 3001:4001 5001:6001",
        ),
        ("ecn.pkt", "[ect0] PW.", "[ect0] P."),
        ("closing.pkt", "R 2:2(0)", "R 3:3(0)"),
    ];
    for (name, from, to) in changes {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/scripts")
            .join(name);
        let text = std::fs::read_to_string(&path).expect("a text");
        assert!(text.contains(from), "{name} has no `{from}`");
        let mut suite = Suite::new(&settings).expect("a kernel");
        suite
            .add(name, &text.replace(from, to), &settings)
            .expect("it is readable");
        let verdict = &suite.scripts[0].verdict;
        assert!(
            matches!(verdict, Verdict::Fail { .. }),
            "{name}: {verdict:?}"
        );
    }
}

/// Our scripts with something wrong in them: never a panic, and the same verdict twice.
mod damaged {
    use super::scripts;
    use bentpipe_packetdrill::{Script, Settings, run};
    use proptest::prelude::*;

    /// What takes the place of something in a script.
    const PIECES: [&str; 20] = [
        "",
        " ",
        "0",
        "1",
        "9",
        "+",
        ".",
        "...",
        "-",
        "(",
        ")",
        "<",
        ">",
        "[ce]",
        "4294967295",
        "65535",
        "\n",
        "`",
        "sack 1:2 9:8",
        "+5 ",
    ];

    proptest! {
        #[test]
        fn damaged_scripts_come_to_a_verdict(
            which in 0usize..64,
            damages in proptest::collection::vec((0usize..4_000, 0usize..12, 0..PIECES.len()), 1..6),
        ) {
            let files = scripts();
            let mut text = std::fs::read_to_string(&files[which % files.len()]).expect("a text");
            for (at, length, piece) in damages {
                let from = at % (text.len() + 1);
                let to = (from + length).min(text.len());
                text.replace_range(from..to, PIECES[piece]);
            }
            if let Ok(script) = Script::parse("damaged.pkt", &text) {
                let settings = Settings::default();
                let first = run(&script, &settings);
                prop_assert!(first.is_ok());
                prop_assert_eq!(first, run(&script, &settings));
            }
        }
    }
}
