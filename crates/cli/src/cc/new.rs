//! `bentpipe cc new`: a congestion control that works, to be changed.

use crate::args::CcNew;
use crate::exit::{Failure, Status};
use crate::output::Output;
use bentpipe_outcome::write_whole;
use bentpipe_plugin::template;
use std::fs;
use std::path::Path;

/// Writes the files, unless they are there.
pub(crate) fn main(args: &CcNew, out: &mut Output) -> Result<Status, Failure> {
    let name = &args.name;
    if let Some(expected) = template::complaint(name, args.c) {
        return Err(Failure::new(format!(
            "`{name}` cannot be the name of a congestion control: {expected}"
        )));
    }
    if bentpipe_tcp::find_transport(name).is_some() {
        return Err(Failure::new(format!(
            "`{name}` is the name of a built-in transport: expected another name"
        )));
    }
    let into = args.folder.clone().unwrap_or_default();
    let (what, files) = if args.c {
        let (file, text) = template::c(name);
        (into.join(&file), vec![(into.join(file), text)])
    } else {
        let folder = into.join(name);
        let files = template::rust(name).into_iter();
        let files = files
            .map(|(file, text)| (folder.join(file), text))
            .collect();
        (folder, files)
    };
    if what.exists() {
        return Err(Failure::new(format!(
            "`{}` exists: expected another name, or --in another folder",
            what.display()
        )));
    }
    for (file, text) in files {
        if let Some(folder) = file.parent().filter(|folder| *folder != Path::new("")) {
            fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, e))?;
        }
        write_whole(&file, text.as_bytes()).map_err(|e| Failure::new(e.to_string()))?;
    }
    out.line(format_args!(
        "wrote {0}; now: bentpipe cc check {0}",
        what.display()
    ))?;
    Ok(Status::Done)
}
