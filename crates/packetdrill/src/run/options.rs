//! The options of a script: the lines `--name=value` at its beginning.

use super::{End, Run};
use crate::report::Note;
use crate::script::micros;

/// Options that mean nothing without a device. `mss` is of the segments that a device would cut a
/// large injected packet into: the model takes it whole.
const WITHOUT_MEANING: [&str; 11] = [
    "mss",
    "local_ip",
    "remote_ip",
    "gateway_ip",
    "netmask_ip",
    "bind_port",
    "connect_port",
    "speed",
    "tcp_ts_ecr_scaled",
    "verbose",
    "debug",
];

impl Run<'_> {
    /// Takes them in.
    pub(super) fn options(&mut self) -> Result<(), End> {
        for option in &self.script.options {
            let line = self.script.line(option.span.start);
            let number: Option<u64> = option.value.parse().ok();
            let fraction: Option<f64> = option.value.parse().ok();
            match (option.name.as_str(), number, fraction) {
                ("tolerance_usecs", Some(us), _) => self.tolerance.time = micros(us),
                ("tolerance_percent", _, Some(percent)) if percent.is_finite() => {
                    self.tolerance.percent = percent.clamp(0.0, 100.0);
                }
                ("tcp_ts_tick_usecs", Some(us), _) => self.tolerance.timestamp_tick = us,
                ("mtu", Some(1_500), _) => {}
                ("ip_version", ..) if option.value == "ipv4" => {}
                ("ip_version", ..) => return Err(End::NotModelled(line, "IPv6".to_owned())),
                (name, ..) if WITHOUT_MEANING.contains(&name) => {}
                (name, ..) => self.notes.push(Note {
                    line,
                    what: format!("the option `--{name}`"),
                }),
            }
        }
        Ok(())
    }
}
