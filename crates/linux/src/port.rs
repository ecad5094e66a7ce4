//! An interface of a gateway: every frame that it receives is read here, and
//! what is written here it sends.
//!
//! The kernel joins packets that it receives into larger ones (GRO, LRO), which
//! no link ever carried. That is switched off while the port exists and
//! switched on again afterwards, by the next start if the process is killed.

use crate::namespace::{Identity, Leftover, forget, note};
use crate::sys::packet::{ethtool, interface, packet_drops, packet_socket};
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes before the IP header: how a segment is to be cut, and Ethernet's.
pub(crate) const BEFORE_IP: usize = crate::tun::GSO_HEADER + 14;

/// What joins packets: name, how to ask and how to set it, and its bit.
const JOINING: [(&str, u32, u32, u32); 2] = [
    // ETHTOOL_GGRO, ETHTOOL_SGRO.
    ("gro", 0x2b, 0x2c, 1),
    // ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_LRO.
    ("lro", 0x25, 0x26, 1 << 15),
];

/// Why an interface cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// There is none of that name.
    #[error("there is no network interface `{0}` in this network namespace")]
    Missing(String),
    /// It has frames that are not those of Ethernet.
    #[error("interface `{0}` is not Ethernet")]
    NotEthernet(String),
    /// A system call failed.
    #[error("cannot {doing} interface `{name}`: {why}{}", hint(.why))]
    System {
        /// The operation that failed.
        doing: &'static str,
        /// Name of the interface.
        name: String,
        /// Error of the system.
        why: io::Error,
    },
}

fn hint(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::PermissionDenied => " (this needs root)",
        _ => "",
    }
}

/// An interface that is read from and written to.
#[derive(Debug)]
pub(crate) struct Port {
    name: String,
    /// Network namespace of the interface.
    namespace: Identity,
    socket: OwnedFd,
    /// Of the interface's namespace, for its features.
    control: UdpSocket,
    /// Features to be switched on again.
    off: Vec<&'static str>,
    mtu: u32,
}

impl Port {
    /// Opens the interface `name` of the calling thread's namespace.
    pub(crate) fn open(name: &str) -> Result<Port, PortError> {
        let failed = |doing| {
            move |why: io::Error| PortError::System {
                doing,
                name: name.to_owned(),
                why,
            }
        };
        let missing = || PortError::Missing(name.to_owned());
        let control = UdpSocket::bind("0.0.0.0:0").map_err(failed("ask about"))?;
        let index = rustix::net::netdevice::name_to_index(&control, name).map_err(|_| missing())?;
        let (mtu, is_ethernet) = interface(&control, name).map_err(failed("ask about"))?;
        if !is_ethernet {
            return Err(PortError::NotEthernet(name.to_owned()));
        }
        let socket = packet_socket(index).map_err(failed("listen to"))?;
        let mut port = Port {
            name: name.to_owned(),
            namespace: Identity::of_this_thread().map_err(failed("ask about"))?,
            socket,
            control,
            off: Vec::new(),
            mtu,
        };
        port.switch_off().map_err(failed("switch off GRO of"))?;
        Ok(port)
    }

    fn switch_off(&mut self) -> io::Result<()> {
        for (feature, get, set, bit) in JOINING {
            // An interface that does not know it does not do it.
            let now = ethtool(&self.control, &self.name, get, 0).unwrap_or(0);
            if now & bit == 0 {
                continue;
            }
            note(&self.leftover(feature))?;
            self.off.push(feature);
            ethtool(&self.control, &self.name, set, now & !bit)?;
        }
        Ok(())
    }

    fn leftover(&self, feature: &str) -> Leftover {
        Leftover::Feature {
            interface: self.name.clone(),
            feature: feature.to_owned(),
            namespace: self.namespace,
        }
    }

    /// Largest packet that it sends.
    pub(crate) fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Frames that came too fast to be read, since this was asked before.
    pub(crate) fn dropped(&self) -> u64 {
        packet_drops(&self.socket).unwrap_or(0)
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        for feature in &self.off {
            // Features that could not be enabled remain recorded.
            if set(&self.control, &self.name, feature).is_ok() {
                forget(&self.leftover(feature));
            }
        }
    }
}

/// Switches a feature on that a killed process had switched off. False if the
/// device is gone.
pub(crate) fn switch_on(device: &str, feature: &str) -> io::Result<bool> {
    let control = UdpSocket::bind("0.0.0.0:0")?;
    set(&control, device, feature)
}

/// Switches a feature on. False if the device is gone.
fn set(control: &UdpSocket, device: &str, feature: &str) -> io::Result<bool> {
    for (name, get, set, bit) in JOINING {
        if name == feature {
            let on = ethtool(control, device, get, 0)
                .and_then(|now| ethtool(control, device, set, now | bit));
            return match on {
                Err(why) if why.raw_os_error() == Some(libc::ENODEV) => Ok(false),
                other => other.map(|_| true),
            };
        }
    }
    Ok(false)
}
