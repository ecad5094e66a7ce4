//! Built-in algorithms that are not made of three slots: slow start, avoidance
//! and reaction read and write one state.
//!
//! They come in families, one folder each. A family is an enum of its members,
//! made by [`family`]: calls go to the member by a match, without a vtable.

use crate::delay::Delay;
use crate::explicit::Explicit;
use crate::kernel::Kernel;
use crate::linux::Modules;
use crate::model::Model;
use crate::satellite::Satellite;

/// Declares an enum of algorithms that each implement
/// [`crate::CongestionControl`], and dispatches the calls to the member.
macro_rules! family {
    ($(#[$doc:meta])* $family:ident { $($(#[$member_doc:meta])* $member:ident($type:ty),)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        #[allow(
            clippy::large_enum_variant,
            reason = "a connection has one; a box would cost a pointer chase per ACK"
        )]
        pub enum $family {
            $($(#[$member_doc])* $member($type),)*
        }

        impl crate::CongestionControl for $family {
            fn name(&self) -> &str {
                match self { $($family::$member(it) => it.name(),)* }
            }

            fn on_open(&mut self, receive_window: bentpipe_units::Segments) {
                match self { $($family::$member(it) => it.on_open(receive_window),)* }
            }

            fn on_established(
                &mut self,
                rtt: Option<bentpipe_units::Duration>,
                window: &mut crate::Window,
            ) {
                match self { $($family::$member(it) => it.on_established(rtt, window),)* }
            }

            #[inline]
            fn on_ack(&mut self, ack: &crate::Ack, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_ack(ack, window),)* }
            }

            #[inline]
            fn on_sample(&mut self, ack: &crate::Ack, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_sample(ack, window),)* }
            }

            fn on_feedback(
                &mut self,
                feedback: &crate::Feedback,
                window: &mut crate::Window,
            ) {
                match self { $($family::$member(it) => it.on_feedback(feedback, window),)* }
            }

            fn on_loss(&mut self, loss: &crate::Loss, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_loss(loss, window),)* }
            }

            fn on_timeout(&mut self, timeout: &crate::Timeout, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_timeout(timeout, window),)* }
            }

            fn on_recovery_exit(
                &mut self,
                exit: &crate::RecoveryExit,
                window: &mut crate::Window,
            ) {
                match self { $($family::$member(it) => it.on_recovery_exit(exit, window),)* }
            }

            fn on_spurious(&mut self, before: &crate::Window, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_spurious(before, window),)* }
            }

            fn after_idle(
                &mut self,
                initial_window: bentpipe_units::Segments,
                window: &mut crate::Window,
            ) {
                match self { $($family::$member(it) => it.after_idle(initial_window, window),)* }
            }

            #[inline]
            fn on_control(
                &mut self,
                ack: &crate::Ack,
                repair: crate::Repair,
                window: &mut crate::Window,
            ) {
                match self { $($family::$member(it) => it.on_control(ack, repair, window),)* }
            }

            fn on_restart(&mut self, now: bentpipe_units::Time, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_restart(now, window),)* }
            }

            fn on_queue(&mut self, report: &crate::QueueReport, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_queue(report, window),)* }
            }

            fn wants_queue_reports(&self) -> bool {
                match self { $($family::$member(it) => it.wants_queue_reports(),)* }
            }

            fn seed(&mut self, seed: u64) {
                match self { $($family::$member(it) => it.seed(seed),)* }
            }

            fn owns_window(&self) -> bool {
                match self { $($family::$member(it) => it.owns_window(),)* }
            }

            fn needs_rate_samples(&self) -> bool {
                match self { $($family::$member(it) => it.needs_rate_samples(),)* }
            }

            fn on_path(&mut self, path: &crate::PathKnowledge, window: &mut crate::Window) {
                match self { $($family::$member(it) => it.on_path(path, window),)* }
            }

            fn needs_path(&self) -> bool {
                match self { $($family::$member(it) => it.needs_path(),)* }
            }

            fn needs_feedback(&self) -> bool {
                match self { $($family::$member(it) => it.needs_feedback(),)* }
            }

            fn phase(&self, window: &crate::Window) -> crate::Phase {
                match self { $($family::$member(it) => it.phase(window),)* }
            }

            fn bandwidth_estimate(&self) -> Option<bentpipe_units::Rate> {
                match self { $($family::$member(it) => it.bandwidth_estimate(),)* }
            }
        }
    };
}
pub(crate) use family;

family! {
    /// A built-in algorithm that is not made of slots.
    Whole {
        /// Algorithms that watch the queueing delay.
        Delay(Delay),
        /// Algorithms made for satellite links.
        Satellite(Satellite),
        /// The modules of Linux.
        Linux(Modules),
        /// The kernel's controls of `bpf/`.
        Kernel(Kernel),
        /// Algorithms that keep a model of the path.
        Model(Model),
        /// Algorithms that are told what to send.
        Explicit(Explicit),
    }
}
