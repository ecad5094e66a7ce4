//! A journal that is truncated or damaged anywhere yields a prefix of what was written, never a
//! panic and never a wrong record.

use super::*;
use crate::Outcome;
use crate::model::samples::outcome;
use proptest::prelude::*;
use std::fs;

const HEADER: &str = "geo 9f3c0a bentpipe 0.1.0";

fn write(path: &Path, records: &[(String, String)]) {
    let (mut journal, old) = Journal::open(path, HEADER).unwrap();
    assert!(old.is_empty());
    for (key, value) in records {
        journal.append(key, value).unwrap();
    }
}

fn read(path: &Path) -> Vec<(String, String)> {
    let (_, records) = Journal::open(path, HEADER).unwrap();
    records
        .iter()
        .map(|r| (r.key.clone(), r.decode().unwrap()))
        .collect()
}

fn three() -> Vec<(String, String)> {
    let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    vec![pair("1", "one"), pair("", ""), pair("dréi", "\"\n\0")]
}

#[test]
fn outcomes_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    let run = outcome().without_series();
    let key = format!("{:032x}", 0x1234_5678_u128);
    {
        let (mut journal, _) = Journal::open(&path, HEADER).unwrap();
        journal.append(&key, &run).unwrap();
        journal.sync().unwrap();
    }
    let (journal, records) = Journal::open(&path, HEADER).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].key, key);
    assert_eq!(records[0].decode::<Outcome>().unwrap(), run);
    assert_eq!(journal.cut(), 0);
    let e = records[0].decode::<u64>().unwrap_err().to_string();
    assert!(e.starts_with("the record `00000000000000000000000012345678` cannot be read: "));
}

#[test]
fn cut_at_every_byte_it_gives_the_records_before_the_cut_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    let all = three();
    // Where each record ends.
    let ends: Vec<u64> = (0..=all.len())
        .map(|n| {
            let _ = fs::remove_file(&path);
            write(&path, &all[..n]);
            fs::metadata(&path).unwrap().len()
        })
        .collect();
    let whole = fs::read(&path).unwrap();
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let n = ends[1..].iter().filter(|&&end| end <= cut as u64).count();
        {
            let (mut journal, records) = Journal::open(&path, HEADER).unwrap();
            assert_eq!(records.len(), n, "cut at {cut}");
            if cut as u64 >= ends[0] {
                assert_eq!(journal.cut(), cut as u64 - ends[n]);
            }
            for (key, value) in &all[n..] {
                journal.append(key, value).unwrap();
            }
        }
        // What was resumed has the bytes of what was never stopped.
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    let all = three();
    write(&path, &all);
    let whole = fs::read(&path).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut bad = whole.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, &bad).unwrap();
        match Journal::open(&path, HEADER) {
            Ok((journal, records)) => {
                assert!(records.len() < all.len(), "bit {bit}");
                assert!(journal.cut() > 0, "bit {bit}");
                for (record, (key, value)) in records.iter().zip(&all) {
                    assert_eq!(&record.key, key);
                    assert_eq!(&record.decode::<String>().unwrap(), value);
                }
            }
            Err(e) => assert!(
                matches!(e, JournalError::NotAJournal { .. }),
                "bit {bit}: {e}"
            ),
        }
    }
}

#[test]
fn a_tail_of_zeros_is_no_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    write(&path, &three());
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(&[0; 4096]);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read(&path), three());
    assert_eq!(
        fs::metadata(&path).unwrap().len() + 4096,
        bytes.len() as u64
    );
}

#[test]
fn another_header_is_told_apart_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    write(&path, &three());
    let before = fs::read(&path).unwrap();
    let e = Journal::open(&path, "leo").unwrap_err();
    assert!(
        matches!(&e, JournalError::Header { found, .. } if found == HEADER),
        "{e}"
    );
    assert!(
        e.to_string()
            .ends_with("the journal is of `geo 9f3c0a bentpipe 0.1.0`, not of `leo`")
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(Journal::restart(&path, "leo").unwrap());
    assert!(Journal::open(&path, "leo").unwrap().1.is_empty());
}

#[test]
fn what_is_no_journal_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thesis.tex");
    fs::write(&path, "\\documentclass{article}").unwrap();
    let e = Journal::open(&path, HEADER).unwrap_err();
    assert!(matches!(e, JournalError::NotAJournal { .. }));
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "\\documentclass{article}"
    );
}

#[test]
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    let (journal, _) = Journal::open(&path, HEADER).unwrap();
    assert!(matches!(
        Journal::open(&path, HEADER),
        Err(JournalError::InUse { .. })
    ));
    assert!(matches!(
        Journal::restart(&path, HEADER),
        Err(JournalError::InUse { .. })
    ));
    drop(journal);
    assert!(Journal::open(&path, HEADER).is_ok());
}

#[test]
fn what_has_no_json_form_leaves_the_journal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    {
        let (mut journal, _) = Journal::open(&path, HEADER).unwrap();
        journal.set_batch(1);
        journal.append("a", "first").unwrap();
        let pairs_as_keys = std::collections::BTreeMap::from([((1, 2), 3)]);
        let e = journal.append("b", &pairs_as_keys).unwrap_err();
        assert!(matches!(e, JournalError::Encode { .. }), "{e}");
        journal.append("c", "second").unwrap();
    }
    let records = read(&path);
    assert_eq!(
        records,
        [("a", "first"), ("c", "second")].map(|(k, v)| (k.into(), v.into()))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_appended_in_whatever_sessions_comes_back(
        sessions in proptest::collection::vec(
            proptest::collection::vec(("\\PC{0,20}", "\\PC{0,200}"), 0..5), 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.journal");
        let mut all: Vec<(String, String)> = Vec::new();
        for session in sessions {
            let (mut journal, records) = Journal::open(&path, HEADER).unwrap();
            prop_assert_eq!(records.len(), all.len());
            for (key, value) in session {
                journal.append(&key, &value).unwrap();
                all.push((key, value));
            }
        }
        prop_assert_eq!(read(&path), all);
    }

    #[test]
    fn no_file_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), ours in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("study.journal");
        let start = if ours { preamble(HEADER, &path).unwrap() } else { Vec::new() };
        fs::write(&path, [start, bytes].concat()).unwrap();
        if let Ok((_, records)) = Journal::open(&path, HEADER) {
            prop_assert!(records.is_empty());
        }
    }
}

#[test]
fn what_is_kept_synced_gets_to_the_disk_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.journal");
    let pause = std::time::Duration::from_millis(5);
    let (mut journal, _) = Journal::open(&path, HEADER).unwrap();
    // As a study has it: the batch alone would not be full for a long time.
    journal.set_batch(1024);
    assert_eq!(journal.kept(), None);
    journal.keep_synced(pause).unwrap();
    for (key, value) in three() {
        journal.append(&key, &value).unwrap();
        let length = fs::metadata(&path).unwrap().len();
        let mut looks = 0;
        while journal.kept() < Some(length) {
            std::thread::sleep(pause);
            looks += 1;
            assert!(looks < 4000, "{:?} of {length} bytes", journal.kept());
        }
        assert_eq!(journal.kept(), Some(length));
    }
    // The thread lets go of the lock, also with a pause that is not over.
    drop(journal);
    let (mut journal, records) = Journal::open(&path, HEADER).unwrap();
    assert_eq!(records.len(), 3);
    journal
        .keep_synced(std::time::Duration::from_secs(3600))
        .unwrap();
    journal.append("4", "four").unwrap();
    drop(journal);
    assert_eq!(read(&path).len(), 4);
}
