//! `--sequence`, `--packets` and `--qlog`: what the packets of a run did, as files.

use crate::args::Recorded;
use crate::exit::{Failure, talk};
use crate::output::{draw, picture_kind};
use bentpipe::recording::{PacketTrace, write_packets, write_qlog};
use bentpipe_outcome::{Format, WholeFile};
use bentpipe_present::sequence;
use std::io::BufWriter;

/// Refuses names that say no format, before anything runs.
pub(crate) fn check(files: &Recorded) -> Result<(), Failure> {
    if let Some(file) = &files.sequence {
        picture_kind(file)?;
    }
    if let Some(file) = &files.packets {
        Format::of(file).map_err(|error| Failure::new(error.to_string()))?;
    }
    Ok(())
}

/// Writes the files: the table of all connections, the figure and the log of the first.
pub(crate) fn write(
    files: &Recorded,
    traces: &[PacketTrace],
    scenario_hash: &str,
) -> Result<(), Failure> {
    let Some(first) = traces.first() else {
        return Err(Failure::new("there are no packets: no TCP carries a flow"));
    };
    let provenance = first.provenance(scenario_hash);
    if let Some(file) = &files.sequence {
        draw(&sequence::chart(first), file)?;
        talk(format_args!("drew {}", file.display()));
    }
    if let Some(file) = &files.packets {
        write_packets(file, traces, &provenance).map_err(|e| Failure::new(e.to_string()))?;
        talk(format_args!("wrote {}", file.display()));
    }
    if let Some(file) = &files.qlog {
        if first.is_sealed {
            return Err(Failure::new(format!(
                "`{}` has ciphers, through which no qlog sees: leave `ciphers` out, as times and \
                 lengths are the same without",
                first.flow
            )));
        }
        let whole = WholeFile::create(file).map_err(|e| Failure::new(e.to_string()))?;
        let failed = |error: std::io::Error| Failure::file("write", file, error);
        let written = write_qlog(BufWriter::new(whole), first, &provenance).map_err(failed)?;
        let whole = written.into_inner().map_err(|e| failed(e.into_error()))?;
        whole.commit().map_err(|e| Failure::new(e.to_string()))?;
        talk(format_args!("wrote {}", file.display()));
    }
    Ok(())
}
