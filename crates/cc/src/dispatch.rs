//! Declares a trait together with its dispatch over an enum.

/// Declares a trait and a macro `$dispatch!(Enum { Arm Arm ... })` that
/// implements the trait for an enum by a match over its arms: a static call
/// without a vtable. The trait's methods are thereby written once.
/// `$dispatch!(inherent Enum { ... })` declares them as the enum's own, so that
/// callers need not import the trait. In an implementation of the trait,
/// `$dispatch!(@ignore method)` is a method that does nothing, and
/// `$dispatch!(@delegate method field)` one that is the field's.
///
/// The first token of the input is `$`, which the declared macro needs. Modules after
/// that of the trait know the macro (`#[macro_use]`).
macro_rules! dispatched {
    (
        $d:tt
        $(#[$attribute:meta])*
        pub trait $Trait:ident by $dispatch:ident;
        required {
            $(
                $(#[$required_attribute:meta])*
                fn $required:ident(
                    $required_self:ident: $required_receiver:ty
                    $(, $required_argument:ident: $required_type:ty)* $(,)?
                ) $(-> $required_output:ty)?;
            )*
        }
        provided {
            $(
                $(#[$provided_attribute:meta])*
                fn $provided:ident(
                    $self:ident: $receiver:ty $(, $argument:ident: $type:ty)* $(,)?
                ) $(-> $output:ty)? { $($body:tt)* }
            )*
        }
    ) => {
        $(#[$attribute])*
        pub trait $Trait: core::fmt::Debug + Send {
            $(
                $(#[$required_attribute])*
                fn $required(
                    $required_self: $required_receiver
                    $(, $required_argument: $required_type)*
                ) $(-> $required_output)?;
            )*
            $(
                $(#[$provided_attribute])*
                #[inline]
                fn $provided($self: $receiver $(, $argument: $type)*) $(-> $output)? {
                    $(let _ = &$argument;)*
                    $($body)*
                }
            )*
        }

        macro_rules! $dispatch {
            ($d Enum:ident { $d($d Arm:ident)* }) => {
                impl $Trait for $d Enum {
                    $dispatch!(@methods [] $d Enum { $d($d Arm)* });
                }
            };
            (inherent $d Enum:ident { $d($d Arm:ident)* }) => {
                impl $d Enum {
                    $dispatch!(@methods [pub] $d Enum { $d($d Arm)* });
                }
            };
            (@methods [$d($d visibility:tt)*] $d Enum:ident $d arms:tt) => {
                $(
                    $(#[$required_attribute])*
                    #[inline]
                    $d($d visibility)* fn $required(
                        $required_self: $required_receiver
                        $(, $required_argument: $required_type)*
                    ) $(-> $required_output)? {
                        $dispatch!(
                            @call $d Enum $d arms $required_self $required($($required_argument),*)
                        )
                    }
                )*
                $(
                    $(#[$provided_attribute])*
                    #[inline]
                    $d($d visibility)* fn $provided(
                        $self: $receiver $(, $argument: $type)*
                    ) $(-> $output)? {
                        $dispatch!(@call $d Enum $d arms $self $provided($($argument),*))
                    }
                )*
            };
            $(
                (@ignore $required) => {
                    fn $required($required_self: $required_receiver $(, _: $required_type)*) {}
                };
                (@delegate $required $d field:ident) => {
                    fn $required(
                        $required_self: $required_receiver
                        $(, $required_argument: $required_type)*
                    ) $(-> $required_output)? {
                        $required_self.$d field.$required($($required_argument),*)
                    }
                };
            )*
            $(
                (@ignore $provided) => {
                    fn $provided($self: $receiver $(, _: $type)*) {}
                };
                (@delegate $provided $d field:ident) => {
                    fn $provided($self: $receiver $(, $argument: $type)*) $(-> $output)? {
                        $self.$d field.$provided($($argument),*)
                    }
                };
            )*
            (
                @call $d Enum:ident { $d($d Arm:ident)* } $d receiver:ident $d method:ident
                $d arguments:tt
            ) => {
                match $d receiver {
                    $d($d Enum::$d Arm(it) => it.$d method $d arguments,)*
                }
            };
        }
    };
}
pub(crate) use dispatched;
