//! Helpers of the sections' readers.

use bentpipe_document::reading::Declared;
use bentpipe_document::{Context, Diagnostic, OptionalField, Placed, Reported, Table};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The UDP and TCP port of a hub where the file names none.
pub const PORT: u16 = 4433;

/// What the sections share while a file is read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The table of the whole file.
    pub(super) top: &'a Context,
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
    /// The configuration's name: that of its file, without `.toml`.
    pub(super) name: &'a str,
}

impl Reading<'_> {
    /// The section as written, or as it is where the file leaves it out: every key
    /// with its default.
    pub(super) fn or_defaults<T: Declared>(
        &self,
        section: OptionalField<T>,
    ) -> Result<T, Reported> {
        Ok(section?.map_or_else(|| defaults(&self.top.errors), |section| section.value))
    }

    /// A path of the file, seen from the file's folder.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }
}

/// The value of a key, or the default of its type where the file leaves it out.
pub(super) fn or_default<T: Default>(field: OptionalField<T>) -> Result<T, Reported> {
    Ok(field?.map(|field| field.value).unwrap_or_default())
}

/// A section without a key in it.
fn defaults<T: Declared>(errors: &bentpipe_document::Errors) -> T {
    let what = T::section().called;
    T::from_context(Context::top::<T>(&Table::default(), errors, what))
}

/// The values of a section that the file leaves out.
pub(super) fn of_defaults<T: Declared, U>(read: impl Fn(T) -> Result<U, Reported>) -> U {
    let errors = bentpipe_document::Errors::new(bentpipe_document::Origin::file("", ""));
    match read(defaults(&errors)) {
        Ok(value) => value,
        Err(_) => unreachable!("the defaults of {} are valid", T::section().path),
    }
}

/// A time of the file as the runtime takes it.
pub(super) fn time(time: bentpipe_units::Duration) -> Duration {
    Duration::from_nanos(time.as_nanos())
}

/// What an address with a port looks like.
pub(super) const ADDRESS: &str =
    "an address and a port, such as `203.0.113.7:4433` or `[2001:db8::7]:4433`";

/// An address; the port may be left out where `port` holds instead.
///
/// # Errors
/// When the text is none.
pub(super) fn address(
    context: &Context,
    text: &Placed<String>,
    key: &str,
    port: Option<u16>,
) -> Result<SocketAddr, Reported> {
    let bare = text.value.trim_start_matches('[').trim_end_matches(']');
    let with_port = text.value.parse::<SocketAddr>().ok();
    let without = || Some(SocketAddr::new(bare.parse::<IpAddr>().ok()?, port?));
    let only_port = || {
        let port = text.value.strip_prefix(':')?.parse().ok()?;
        Some(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port))
    };
    let found = with_port.or_else(without).or_else(only_port);
    found.ok_or_else(|| {
        let message = format!("`{key}`: `{}` is no address", text.value);
        let error = Diagnostic::new(text.place, message).label(format!("expected {ADDRESS}"));
        context.report(if bare.parse::<IpAddr>().is_ok() {
            error.help("add a port")
        } else if text.value.contains(|c: char| c.is_ascii_alphabetic())
            && !text.value.contains("::")
        {
            error.help("names are not resolved here: write the address")
        } else {
            error
        })
    })
}
