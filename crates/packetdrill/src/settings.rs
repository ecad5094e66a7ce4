//! The kernel that a script wants: what its commands set.
//!
//! Commands are recognised, never executed. `defaults.sh` and `set_sysctls.py` mean what they mean
//! beside packetdrill's own scripts.

use crate::script::micros;
use bentpipe_units::Duration;

/// Settings of the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) window_scaling: bool,
    /// `tcp_ecn`: 0 never, 1 asks for it, 2 agrees to it.
    pub(crate) ecn: u8,
    pub(crate) congestion_control: String,
    pub(crate) restart_after_idle: bool,
    pub(crate) tail_loss_probes: bool,
    /// The largest receive buffer, bytes: it gives the window scale.
    pub(crate) largest_receive_buffer: u64,
}

/// A kernel as it comes.
impl Default for Kernel {
    fn default() -> Kernel {
        Kernel {
            timestamps: true,
            sack: true,
            window_scaling: true,
            ecn: 2,
            congestion_control: "cubic".to_owned(),
            restart_after_idle: true,
            tail_loss_probes: true,
            largest_receive_buffer: 6 << 20,
        }
    }
}

/// What a command does that cannot be done here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The script may run without it.
    Setting(String),
    /// It cannot.
    Command(String),
}

/// Settings of other things than what is modelled, or that change only how much of what a sender
/// may send goes in one packet.
const HARMLESS: [&str; 16] = [
    "tcp_wmem",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    "tcp_ecn_option",
    "tcp_no_metrics_save",
    "tcp_invalid_ratelimit",
    "tcp_fack",
    "tcp_max_tw_buckets",
    "tcp_tw_reuse",
];

/// Settings that the model has at one value only.
const FIXED: [(&str, &[&str]); 7] = [
    ("tcp_dsack", &["1"]),
    ("tcp_reordering", &["3"]),
    ("tcp_recovery", &["1"]),
    ("tcp_frto", &["1", "2"]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_notsent_lowat", &["4294967295", "-1"]),
    ("tcp_autocorking", &["0", "1"]),
];

impl Kernel {
    /// What `defaults.sh` sets.
    fn defaults(&mut self) {
        *self = Kernel {
            ecn: 0,
            restart_after_idle: false,
            largest_receive_buffer: 15 << 20,
            ..Kernel::default()
        };
    }

    /// The window scale that it offers.
    pub(crate) fn window_shift(&self) -> u8 {
        let bits = self.largest_receive_buffer.max(1).ilog2();
        bits.saturating_sub(15).min(14) as u8
    }

    /// Applies the commands `text`.
    pub(crate) fn apply(&mut self, text: &str) -> Vec<Missing> {
        let text = text.replace("\\\n", " ");
        let mut missing = Vec::new();
        for command in text.split(['\n', ';']).flat_map(|line| line.split("&&")) {
            let command = command.split(" #").next().unwrap_or("").trim();
            if !command.is_empty() && !command.starts_with('#') {
                self.command(command, &mut missing);
            }
        }
        missing
    }

    fn command(&mut self, command: &str, missing: &mut Vec<Missing>) {
        let words = words(command);
        let Some(first) = words.first() else {
            return;
        };
        let name = first.rsplit('/').next().unwrap_or(first);
        let rest = words.get(1..).unwrap_or(&[]);
        match name {
            "defaults.sh" => self.defaults(),
            "set_sysctls.py" => self.assign(rest, missing),
            "sysctl" => {
                let settings: Vec<String> = rest
                    .iter()
                    .filter(|word| !word.starts_with('-'))
                    .cloned()
                    .collect();
                self.assign(&settings, missing);
            }
            "echo" => match rest {
                [value, arrow, path] if arrow == ">" => self.set(path, value, missing),
                _ => missing.push(Missing::Setting(format!("the command `{name}`"))),
            },
            "tc" => Kernel::queue(rest, missing),
            "ip" if rest.iter().any(|word| word == "tcp_metrics") => {}
            "ethtool" | "true" | "sync" | "rm" => {}
            _ if name.starts_with("sysctl_restore_") => {}
            _ => missing.push(Missing::Setting(format!("the command `{name}`"))),
        }
    }

    fn assign(&mut self, settings: &[String], missing: &mut Vec<Missing>) {
        for setting in settings {
            match setting.split_once('=') {
                Some((name, value)) => self.set(name, value, missing),
                None => missing.push(Missing::Setting(format!("the setting `{setting}`"))),
            }
        }
    }

    /// Sets `path` (`net.ipv4.tcp_sack`, `/proc/sys/net/ipv4/tcp_sack`).
    fn set(&mut self, path: &str, value: &str, missing: &mut Vec<Missing>) {
        let name = path.rsplit(['.', '/']).next().unwrap_or(path).trim();
        let value = value.trim();
        let number: Option<u64> = value.parse().ok();
        let on = number.map(|number| number > 0);
        match (name, number, on) {
            ("tcp_timestamps", _, Some(on)) => self.timestamps = on,
            ("tcp_sack", _, Some(on)) => self.sack = on,
            ("tcp_window_scaling", _, Some(on)) => self.window_scaling = on,
            ("tcp_slow_start_after_idle", _, Some(on)) => self.restart_after_idle = on,
            ("tcp_early_retrans", Some(number), _) => self.tail_loss_probes = number >= 3,
            ("tcp_ecn", Some(number @ 0..=2), _) => self.ecn = number as u8,
            ("tcp_ecn", ..) => missing.push(Missing::Setting("accurate ECN".to_owned())),
            ("tcp_congestion_control", ..) => self.congestion_control = value.to_owned(),
            ("tcp_rmem", ..) => {
                let largest = value.split_whitespace().nth(2).and_then(product);
                self.largest_receive_buffer = largest.unwrap_or(self.largest_receive_buffer);
            }
            ("hystart_detect", Some(3), _) => {}
            _ => {
                let fixed = FIXED.iter().find(|(known, _)| *known == name);
                let as_here = fixed.is_some_and(|(_, values)| values.contains(&value));
                if !as_here && !HARMLESS.contains(&name) {
                    missing.push(Missing::Setting(format!("the setting `{name}`")));
                }
            }
        }
    }

    /// `tc qdisc`: the device in front of the sender.
    fn queue(rest: &[String], missing: &mut Vec<Missing>) {
        let has = |word: &str| rest.iter().any(|own| own == word);
        if has("fq") {
            missing.push(Missing::Setting("pacing by the queue `fq`".to_owned()));
        } else if has("limit") || has("netem") {
            missing.push(Missing::Command(
                "a device that drops or delays (`tc`)".to_owned(),
            ));
        } else if !has("pfifo") && !has("pfifo_fast") {
            missing.push(Missing::Setting("the command `tc`".to_owned()));
        }
    }
}

/// A number, or a product of numbers as the shell writes it: `$((32*1024*1024))`.
fn product(text: &str) -> Option<u64> {
    let factors = text
        .strip_prefix("$((")
        .and_then(|inside| inside.strip_suffix("))"))
        .unwrap_or(text);
    let mut product: u64 = 1;
    for factor in factors.split('*') {
        product = product.checked_mul(factor.parse().ok()?)?;
    }
    Some(product)
}

/// Words of a command; quotes keep some together.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in command.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.push(c),
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            None if c == '>' => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                words.push(">".to_owned());
            }
            None => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The options of a script that concern its interpreter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// How far times may be off.
    pub(crate) time: Duration,
    /// The same in per cent of the time since the event before.
    pub(crate) percent: f64,
    /// A tick of the script's timestamp clock, microseconds; 0 where values are not compared.
    pub(crate) timestamp_tick: u64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance {
            time: micros(4_000),
            percent: 0.0,
            timestamp_tick: 0,
        }
    }
}

impl Tolerance {
    /// The tolerance where something was to happen `after` the event before.
    pub(crate) fn after(&self, after: Duration) -> Duration {
        self.time.max(after.scaled(self.percent / 100.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_known_in_every_spelling() {
        let mut kernel = Kernel::default();
        let missing = kernel.apply(
            "../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_sack=0 \\\n \
             /proc/sys/net/ipv4/tcp_timestamps=0\nsysctl -q net.ipv4.tcp_ecn=1 # on\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 87380 1000000\"; echo 1 > /proc/sys/net/ipv4/tcp_slow_start_after_idle",
        );
        assert_eq!(missing, []);
        assert!(!kernel.sack && !kernel.timestamps && kernel.restart_after_idle);
        assert_eq!((kernel.ecn, kernel.window_shift()), (1, 4));
        kernel.apply("sysctl -q net.ipv4.tcp_rmem=\"4096 131072 $((32*1024*1024))\"");
        assert_eq!(kernel.window_shift(), 10);
        kernel.apply("defaults.sh");
        assert_eq!((kernel.ecn, kernel.window_shift()), (0, 8));
    }

    #[test]
    fn products_of_the_shell_are_numbers() {
        assert_eq!(product("87380"), Some(87_380));
        assert_eq!(product("$((32*1024*1024))"), Some(32 << 20));
        for text in ["", "$((", "$((2+2))", "$((99999999999*99999999999))", "-1"] {
            assert_eq!(product(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named_and_what_does_no_harm_is_not() {
        let mut kernel = Kernel::default();
        assert_eq!(
            kernel.apply("sysctl -q net.ipv4.tcp_tso_win_divisor=100"),
            []
        );
        assert_eq!(kernel.apply("sysctl -q net.ipv4.tcp_reordering=3"), []);
        let missing = kernel.apply("sysctl net.ipv4.tcp_reordering=9\nreboot");
        let names = ["the setting `tcp_reordering`", "the command `reboot`"];
        assert_eq!(missing, names.map(|name| Missing::Setting(name.to_owned())));
        assert_eq!(
            kernel.apply("tc qdisc replace dev tun0 root pfifo limit 0"),
            [Missing::Command(
                "a device that drops or delays (`tc`)".to_owned()
            )]
        );
    }
}
