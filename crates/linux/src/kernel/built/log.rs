//! Collects libbpf's messages instead of printing them; they contain the verifier's output.

use libbpf_rs::{PrintLevel, set_print};
use std::mem::take;
use std::sync::{Mutex, PoisonError};

/// libbpf has one voice for the whole process, so one load at a time.
static TURN: Mutex<()> = Mutex::new(());
static SAID: Mutex<String> = Mutex::new(String::new());

/// Does `work` and returns its result with what libbpf said meanwhile.
pub(super) fn listening<T>(work: impl FnOnce() -> T) -> (T, String) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = set_print(Some((PrintLevel::Warn, keep)));
    let result = work();
    set_print(before);
    let said = take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    (result, said)
}

fn keep(_: PrintLevel, text: String) {
    SAID.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push_str(&text);
}

/// The program that the verifier rejected and what the verifier said about it,
/// cut out of libbpf's words.
pub(super) fn rejection(said: &str) -> Option<(String, String)> {
    let (before, rest) = said.split_once("-- BEGIN PROG LOAD LOG --\n")?;
    let log = rest
        .split_once("-- END PROG LOAD LOG --")
        .map_or(rest, |(log, _)| log);
    let line = before.lines().last().unwrap_or("");
    let program = line
        .split_once("prog '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map_or("", |(name, _)| name);
    Some((program.to_owned(), log.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_words_are_cut_out_of_libbpfs() {
        let said = "libbpf: prog 'a_init': BPF program load failed: -13\n\
                    libbpf: prog 'a_init': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx()\n\
                    invalid mem access 'scalar'\n\
                    -- END PROG LOAD LOG --\n\
                    libbpf: prog 'a_init': failed to load: -13\n";
        let (program, log) = rejection(said).unwrap();
        assert_eq!(program, "a_init");
        assert_eq!(log, "0: R1=ctx()\ninvalid mem access 'scalar'\n");
        assert_eq!(rejection("libbpf: something else\n"), None);
    }
}
