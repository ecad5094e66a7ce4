//! Who shares the link, how, and which of its connections go first.

use super::net::{Nets, Ports, Prefix};
use super::priority::{Priority, Urgency};
use super::read;
use super::role::Role;
use crate::Destination;
use bentpipe_document::schema::{Kind, SPAN, integer};
use bentpipe_document::{Diagnostic, Place, Placed, Reported};
use bentpipe_units::{Bytes, Duration as Span, Rate};
use std::net::IpAddr;
use std::time::Duration;

/// Weight of a subscriber without a plan.
pub const WEIGHT: u64 = bentpipe_quic::turns::WEIGHT;

/// What of a client's address says whose it is, and what holds for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribers {
    /// Leading bits of an IPv4 address.
    pub ipv4_prefix: u8,
    /// The same of IPv6.
    pub ipv6_prefix: u8,
    /// What holds for the clients of some nets; the first that has one.
    pub plans: Vec<Plan>,
    /// Which connections go first within a subscriber's part; the first that fits.
    pub classes: Vec<Class>,
}

/// What holds for the clients of some nets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its name, for the status.
    pub name: String,
    /// Its clients.
    pub nets: Nets,
    /// How much each subscriber gets beside others.
    pub weight: u64,
    /// The rate at which this box sends for each subscriber, at most.
    pub cap: Option<Rate>,
    /// What this box sends for each at that rate.
    pub quota: Option<Quota>,
    /// All clients of a net are one subscriber.
    pub together: bool,
}

impl Plan {
    /// Whether it bounds what is sent.
    #[must_use]
    pub const fn limits(&self) -> bool {
        self.cap.is_some() || self.quota.is_some()
    }
}

/// Bytes in a time, and what comes then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Bytes that are sent for a subscriber.
    pub bytes: u64,
    /// In how long.
    pub period: Duration,
    /// The rate for the rest of it.
    pub then: Rate,
}

/// Connections of one urgency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// How urgent they are.
    pub urgency: Urgency,
    /// Ports of their servers; empty: any.
    pub ports: Ports,
    /// Names of their servers, or `*.` and the end of names; empty: any.
    pub names: Vec<String>,
    /// DSCP of the client's first packet.
    pub dscp: Option<u8>,
}

impl Class {
    fn fits(&self, destination: &Destination, dscp: Option<u8>) -> bool {
        let named = match destination {
            Destination::Name { host, .. } => self.names.iter().any(|it| is_named(host, it)),
            Destination::Address(_) => false,
        };
        (self.ports.0.is_empty() || self.ports.contains(destination.port()))
            && (self.names.is_empty() || named)
            && (self.dscp.is_none() || self.dscp == dscp)
    }
}

/// Whether a host has a name, or one that ends so.
fn is_named(host: &str, name: &str) -> bool {
    let host = host.trim_end_matches('.');
    match name.strip_prefix("*.") {
        Some(end) => host
            .len()
            .checked_sub(end.len() + 1)
            .and_then(|at| Some((host.as_bytes().get(at)?, host.get(at + 1..)?)))
            .is_some_and(|(dot, rest)| *dot == b'.' && rest.eq_ignore_ascii_case(end)),
        None => host.eq_ignore_ascii_case(name),
    }
}

impl Subscribers {
    /// The network that a client belongs to.
    #[must_use]
    pub fn net(&self, client: IpAddr) -> Option<Prefix> {
        let client = client.to_canonical();
        if let Some(plan) = self.plan(client).filter(|plan| plan.together) {
            let nets = plan.nets.0.iter();
            return nets.copied().find(|net| net.contains(client));
        }
        let length = if client.is_ipv4() {
            self.ipv4_prefix
        } else {
            self.ipv6_prefix
        };
        Prefix::new(client, length)
    }

    /// Why a plan after those here would hold for a part of a subscriber, if it would: whose a
    /// connection is says its net, and the plan of a net is that of its first address.
    fn divided_by(&self, plan: &Plan) -> Option<String> {
        let prefix = |net: &Prefix| match net.is_ipv4() {
            true => self.ipv4_prefix,
            false => self.ipv6_prefix,
        };
        let narrow = |net: &&Prefix| !plan.together && net.length() > prefix(net);
        if let Some(net) = plan.nets.0.iter().find(narrow) {
            let length = prefix(net);
            return Some(format!(
                "`{net}` is a part of a net of {length} bits, which is one subscriber"
            ));
        }
        let earlier = self.plans.iter().flat_map(|it| &it.nets.0);
        let mut pairs = earlier.flat_map(|one| plan.nets.0.iter().map(move |net| (one, net)));
        let within = |(one, net): &(&Prefix, &Prefix)| {
            plan.together && one.length() > net.length() && net.contains(one.address())
        };
        let (one, net) = pairs.find(within)?;
        Some(format!(
            "`{net}` is one subscriber, and an earlier plan has `{one}` in it"
        ))
    }

    /// What holds for a client; `None`: what holds for all.
    #[must_use]
    pub fn plan(&self, client: IpAddr) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.nets.contains(client))
    }

    /// How urgent a connection is: by the first class that fits, otherwise by `priority`.
    #[must_use]
    pub fn urgency(
        &self,
        destination: &Destination,
        dscp: Option<u8>,
        priority: &Priority,
    ) -> Urgency {
        let class = self.classes.iter().find(|it| it.fits(destination, dscp));
        class.map_or_else(|| priority.of(destination.port()), |class| class.urgency)
    }
}

impl Default for Subscribers {
    fn default() -> Subscribers {
        Subscribers {
            ipv4_prefix: 32,
            ipv6_prefix: 64,
            plans: Vec::new(),
            classes: Vec::new(),
        }
    }
}

bentpipe_document::table! {
    /// who shares the link: subscribers get equal parts of it while they want more, or by weight, and the connections of each share its part
    pub(super) SubscribersTable at "subscribers", called "the subscribers of",
        example "[subscribers]\nipv4_prefix = 24\n\n[[subscribers.plan]]\nname = \"crew\"\nnets = [\"10.1.0.0/16\"]\nweight = 50\ncap = \"5 Mbit/s\"\n\n[[subscribers.class]]\nurgency = \"first\"\ndscp = 46";
    /// leading bits of a client's IPv4 address that say which subscriber it is
    ipv4_prefix: u64 [integer(0, 32)], default 32;
    /// the same of IPv6, of which a host or a household has a whole net
    ipv6_prefix: u64 [integer(0, 128)], default 64;
    /// what holds for the clients of some nets; of several that have a client, the first
    plan: Vec<PlanTable>, or "the same for all";
    /// which connections go first within a subscriber's part; of several that fit, the first, and before `[priority]`
    class: Vec<ClassTable>, or "as `[priority]` says";
}

bentpipe_document::table! {
    /// what holds for the subscribers of some nets, in the direction in which this box sends
    pub(super) PlanTable at "subscribers.plan", called "a plan of";
    /// its name, which the status shows
    name: String [Kind::Name("plan")], required;
    /// the clients' nets
    nets: Nets, required;
    /// how much each subscriber gets beside others that want more
    weight: u64 [integer(1, 10_000)], default 100;
    /// the rate at which this box sends for each subscriber at most, without headers
    cap: Rate, or "what its share of the link is";
    /// what this box sends for each subscriber in a period before it slows down; it is not remembered over a restart
    quota: Bytes [Kind::Size { min: 1, max: 1 << 60 }], or "as much as it wants";
    /// how long a quota is for, from a subscriber's first connection on
    period: Span [SPAN], default "24 h";
    /// the rate for the rest of the period
    then: Rate, default "256 kbit/s";
    /// whether all clients of a net are one subscriber
    together: bool, default false;
}

bentpipe_document::table! {
    /// connections that go before others of their subscriber, or after them
    pub(super) ClassTable at "subscribers.class", called "a class of";
    /// where they go: before all others, as most, or after all others
    urgency: Urgency { "first" => Urgency::First, "normal" => Urgency::Normal, "background" => Urgency::Background }, required;
    /// ports of their servers
    ports: Ports, or "any";
    /// names of their servers as clients of SOCKS5 and CONNECT say them, or `*.` and the end of names; intercepted connections have none
    names: Vec<String> [Kind::Names("server")], or "any, and addresses";
    /// the DSCP of the client's first packet, which a terminal sees and tells its hub
    dscp: u64 [integer(0, 63)], or "any";
}

/// The section.
pub(super) fn read(role: Placed<Role>, table: SubscribersTable) -> Result<Subscribers, Reported> {
    let context = table.context.clone();
    // Both are bounded by their kinds.
    let bits = |bits: u64| u8::try_from(bits).unwrap_or(u8::MAX);
    let (plans, classes) = (table.plan?, table.class?);
    let given = plans.as_ref().map(|it| (it.key, "plan"));
    let given = given.or_else(|| classes.as_ref().map(|it| (it.key, "class")));
    if let (Role::Single, Some((place, key))) = (role.value, given) {
        let error = Diagnostic::new(place, format!("one box has no `{key}`"))
            .label("the kernel's TCP shares the link there, connection by connection")
            .related(role.place, "this role");
        return Err(context.report(error));
    }
    let plans = plans.map_or_else(Vec::new, |it| it.value);
    let classes = classes.map_or_else(Vec::new, |it| it.value);
    let mut read = Subscribers {
        ipv4_prefix: bits(table.ipv4_prefix?.value),
        ipv6_prefix: bits(table.ipv6_prefix?.value),
        plans: Vec::with_capacity(plans.len()),
        classes: classes.into_iter().map(class).collect::<Result<_, _>>()?,
    };
    for table in plans {
        let context = table.context.clone();
        let (plan, place) = plan(table)?;
        if let Some(why) = read.divided_by(&plan) {
            let error = Diagnostic::new(place, why).label("a plan is for whole subscribers");
            return Err(context.report(error));
        }
        read.plans.push(plan);
    }
    Ok(read)
}

/// A plan, and the place of its nets.
fn plan(table: PlanTable) -> Result<(Plan, Place), Reported> {
    let context = table.context.clone();
    let quota = table.quota?;
    let (period, then) = (table.period?, table.then?);
    let nets = table.nets?;
    if nets.value.0.is_empty() {
        let error = Diagnostic::new(nets.place, "a plan is for nobody")
            .label("expected nets such as `10.1.0.0/16`");
        return Err(context.report(error));
    }
    let place = nets.place;
    let plan = Plan {
        name: table.name?.value,
        nets: nets.value,
        weight: table.weight?.value,
        cap: table.cap?.map(|cap| cap.value),
        quota: quota.map(|quota| Quota {
            bytes: quota.value.get(),
            period: read::time(period.value),
            then: then.value,
        }),
        together: table.together?.value,
    };
    Ok((plan, place))
}

fn class(table: ClassTable) -> Result<Class, Reported> {
    let context = table.context.clone();
    let urgency = table.urgency?;
    let names = table.names?.map(|names| names.value);
    let class = Class {
        urgency: urgency.value,
        ports: read::or_default(table.ports)?,
        names: names.unwrap_or_default(),
        dscp: table.dscp?.and_then(|dscp| u8::try_from(dscp.value).ok()),
    };
    if class.ports.0.is_empty() && class.names.is_empty() && class.dscp.is_none() {
        let error = Diagnostic::new(urgency.place, "a class of all connections")
            .label("it has none of `ports`, `names` and `dscp`");
        return Err(context.report(error));
    }
    Ok(class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, config_from_str};

    const SHIP: &str = "role = \"terminal\"\n[tunnel]\naddress = \"192.0.2.7\"\npeers = [\"k\"]\n\
                        [socks]\n[priority]\nbackground = 873\n[subscribers]\n";

    fn config(keys: &str) -> Config {
        config_from_str(&format!("{SHIP}{keys}")).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn a_client_is_its_address_or_its_net() {
        let subscribers = Subscribers::default();
        let net = |text: &str| subscribers.net(text.parse().unwrap()).unwrap().to_string();
        assert_eq!(net("192.0.2.7"), "192.0.2.7/32");
        assert_eq!(net("::ffff:192.0.2.7"), "192.0.2.7/32");
        assert_eq!(net("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
        assert_eq!(config("").subscribers, subscribers);
        assert_eq!(config("ipv4_prefix = 24").subscribers.ipv4_prefix, 24);
        assert!(config_from_str(&format!("{SHIP}ipv4_prefix = 33")).is_err());
    }

    #[test]
    fn the_first_plan_that_has_a_client_holds() {
        let config = config(
            "[[subscribers.plan]]\nname = \"bridge\"\nnets = [\"10.1.0.0/24\"]\nweight = 400\n\
             together = true\n[[subscribers.plan]]\nname = \"crew\"\nnets = [\"10.1.0.0/16\"]\n\
             cap = \"5 Mbit/s\"\nquota = \"2 GB\"\n",
        );
        let plan = |text: &str| config.subscribers.plan(text.parse().unwrap());
        assert_eq!(plan("10.1.0.9").unwrap().weight, 400);
        let crew = plan("10.1.7.9").unwrap();
        assert_eq!((crew.weight, crew.cap), (WEIGHT, Some(Rate::from_mbps(5))));
        let quota = crew.quota.unwrap();
        assert_eq!(
            (quota.bytes, quota.period),
            (2_000_000_000, Duration::from_secs(86_400))
        );
        assert!(plan("10.2.0.1").is_none());
        let net = |text: &str| {
            config
                .subscribers
                .net(text.parse().unwrap())
                .unwrap()
                .to_string()
        };
        assert_eq!(net("10.1.0.9"), "10.1.0.0/24");
        assert_eq!(net("10.1.7.9"), "10.1.7.9/32");
    }

    #[test]
    fn plans_are_for_whole_subscribers() {
        let plan = |name: &str, net: &str, more: &str| {
            format!("[[subscribers.plan]]\nname = \"{name}\"\nnets = [\"{net}\"]\n{more}")
        };
        let refused = |keys: String, why: &str| {
            let errors = config_from_str(&format!("{SHIP}{keys}")).unwrap_err();
            assert!(errors.to_string().contains(why), "{errors}");
        };
        refused(
            format!("ipv4_prefix = 24\n{}", plan("half", "10.1.0.128/25", "")),
            "`10.1.0.128/25` is a part of a net of 24 bits",
        );
        refused(
            plan("one", "10.1.0.0/32", "") + &plan("all", "10.1.0.0/24", "together = true\n"),
            "an earlier plan has `10.1.0.0/32` in it",
        );
        // A narrow net may be one subscriber, and an earlier plan may be wider.
        let narrow = plan("half", "10.1.0.128/25", "together = true\n");
        config(&format!("ipv4_prefix = 24\n{narrow}"));
        config(&(plan("all", "10.0.0.0/8", "") + &plan("one", "10.1.0.0/24", "together = true\n")));
    }

    #[test]
    fn the_first_class_that_fits_holds_before_the_ports() {
        let config = config(
            "[[subscribers.class]]\nurgency = \"first\"\ndscp = 46\n[[subscribers.class]]\n\
             urgency = \"background\"\nnames = [\"*.update.example\", \"store.example\"]\n\
             [[subscribers.class]]\nurgency = \"normal\"\nports = 873\n",
        );
        let of = |destination: &str, dscp| {
            let (host, port) = destination.rsplit_once(':').unwrap();
            let port = port.parse().unwrap();
            let destination = match host.parse::<IpAddr>() {
                Ok(ip) => Destination::Address((ip, port).into()),
                Err(_) => Destination::Name {
                    host: host.to_owned(),
                    port,
                },
            };
            let (subscribers, priority) = (&config.subscribers, &config.priority);
            subscribers.urgency(&destination, dscp, priority)
        };
        assert_eq!(of("192.0.2.1:443", Some(46)), Urgency::First);
        assert_eq!(of("192.0.2.1:443", Some(0)), Urgency::Normal);
        assert_eq!(of("a.Update.Example:443", None), Urgency::Background);
        assert_eq!(of("store.example.:443", None), Urgency::Background);
        assert_eq!(of("xupdate.example:443", None), Urgency::Normal);
        assert_eq!(of("update.example:443", None), Urgency::Normal);
        assert_eq!(of("192.0.2.1:873", None), Urgency::Normal);
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        let single =
            "role = \"single\"\n[intercept]\n[[subscribers.plan]]\nname = \"a\"\nnets = []\n";
        for (text, said) in [
            (single.to_owned(), "one box has no `plan`"),
            (
                format!("{SHIP}[[subscribers.plan]]\nname = \"a\"\nnets = []\n"),
                "for nobody",
            ),
            (
                format!("{SHIP}[[subscribers.plan]]\nname = \"a\"\nnets = [\"10.1.0.0/8\"]\n"),
                "bits beyond its length",
            ),
            (
                format!("{SHIP}[[subscribers.class]]\nurgency = \"first\"\n"),
                "a class of all connections",
            ),
            (
                format!("{SHIP}[[subscribers.class]]\nurgency = \"urgent\"\nports = 1\n"),
                "urgent",
            ),
        ] {
            let errors = config_from_str(&text).unwrap_err().to_string();
            assert!(errors.contains(said), "{errors}");
            assert!(errors.contains("gateway.toml:"), "{errors}");
        }
    }
}
