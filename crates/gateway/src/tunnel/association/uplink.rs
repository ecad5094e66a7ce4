//! The WANs over which a terminal reaches its hubs.

use crate::config::{Bind, Config, HubAddress, Tunnel};
use crate::operate::SharedState;
use crate::tunnel::transport::Sending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// One WAN: its link, and where packets leave over it.
#[derive(Debug)]
pub(super) struct Uplink {
    /// Its name; `None` where it is the only one.
    pub(super) name: Option<String>,
    /// The port of the hubs for it, where it is not the one of their addresses.
    port: Option<u16>,
    pub(super) bind: Option<Bind>,
    pub(super) rtt: Duration,
    pub(super) sending: Arc<Sending>,
}

impl Uplink {
    /// Those of a configuration, the link first.
    ///
    /// # Errors
    /// A congestion control cannot run over QUIC.
    pub(super) fn all(
        config: &Config,
        tunnel: &Tunnel,
        state: &Arc<SharedState>,
    ) -> io::Result<Vec<Arc<Uplink>>> {
        let mut sendings = Sending::all(config, tunnel, state)?.into_iter();
        let links = std::iter::once((&config.link, None));
        let links = links.chain(config.wans.iter().map(|wan| (&wan.link, Some(wan.port))));
        let uplinks = links.enumerate().map_while(|(number, (link, port))| {
            let name = config.wan_name(number);
            Some(Arc::new(Uplink {
                name: name.map(str::to_owned),
                port,
                bind: link.bind.clone(),
                rtt: link.rtt,
                sending: Arc::new(sendings.next()?),
            }))
        });
        Ok(uplinks.collect())
    }

    /// Where a hub is reached over it.
    pub(super) fn target(&self, hub: &HubAddress) -> HubAddress {
        self.port
            .map_or_else(|| hub.clone(), |port| hub.at_port(port))
    }
}
