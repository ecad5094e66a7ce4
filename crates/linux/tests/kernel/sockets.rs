//! Every control of the catalogue, chosen by a real socket.

use crate::common::{chosen, connect, forgotten, known, ready, shown, unique};
use bentpipe_bpf::{CONTROLS, Values};
use bentpipe_linux::kernel::{Holder, load, status};
use std::io::Write as _;

const MEGABYTES: usize = 4 << 20;

/// Segments. Not the kernel's own 10.
const INITIAL_WINDOW: u64 = 7;

#[test]
fn every_control_carries_data_and_goes_away() {
    if !ready("every_control_carries_data_and_goes_away") {
        return;
    }
    for control in CONTROLS {
        let name = unique();
        let mut values = Values::new(control);
        values
            .set_text("initial_window", &INITIAL_WINDOW.to_string())
            .unwrap();
        let loaded =
            load(control, &values, &name).unwrap_or_else(|e| panic!("{}: {e}", control.name));
        assert!(known(&name), "{}", control.name);

        let (mut stream, reader) = connect(&name);
        assert_eq!(chosen(&stream), name);
        if let Some(cwnd) = shown(&stream, "cwnd") {
            assert_eq!(cwnd, INITIAL_WINDOW, "{}", control.name);
        }
        stream.write_all(&vec![0; MEGABYTES]).unwrap();

        let entries = status().unwrap();
        let entry = entries.iter().find(|e| e.name == name).unwrap();
        assert_eq!(entry.control, Some(control));
        assert_eq!(entry.words, values.words());
        assert!(entry.users >= 1, "{}: {}", control.name, entry.users);
        let process =
            matches!(entry.holder, Holder::Process { pid, .. } if pid == std::process::id());
        assert!(process, "{:?}", entry.holder);
        assert!(!entry.programs.is_empty());
        for program in &entry.programs {
            assert!(
                program.verified > 0 && program.instructions > 0,
                "{program:?}"
            );
        }

        drop(stream);
        assert_eq!(reader.join().unwrap(), MEGABYTES, "{}", control.name);
        drop(loaded);
        assert!(forgotten(&name), "{}", control.name);
    }
}
