//! Declarations of tables.

/// Declares a table: a struct with a field for each key, its reader and its
/// entry in the schema.
///
/// Each key has a meaning, which is its comment, a type, what it may be where
/// the type does not say it (a [`Kind`](crate::schema::Kind) in brackets, or
/// the words in braces with what they stand for), and what holds where it is
/// not written: `required`, `default VALUE`, or `or "what, in words"`.
///
/// The name of the table in messages follows `called`; `named` where its own name is added
/// to that, `open` where besides it has keys that only its reader knows, `each` where it is
/// an element of an array.
///
/// ```
/// use bentpipe_document::{Errors, Context, Parsed, schema, reading::Declared};
/// use bentpipe_units::Duration;
///
/// bentpipe_document::table! {
///     /// a pause
///     pub Pause at "pause", called "the pause of", example "[pause]\nlength = \"1 s\"";
///     /// how long it is
///     length: Duration [schema::SPAN], required;
///     /// how often it comes
///     count: u32 [schema::integer(1, 9)], default 1;
/// }
///
/// let parsed = Parsed::new("pause.toml", "length = '2 s'")?;
/// let errors = Errors::new(parsed.origin);
/// let pause = Pause::from_context(Context::top::<Pause>(&parsed.table, &errors, "the pause"));
/// assert_eq!(pause.length.unwrap().value, Duration::from_secs(2));
/// assert_eq!(pause.count.unwrap().value, 1);
/// assert_eq!(Pause::section().keys[1].meaning, "how often it comes");
/// # Ok::<(), bentpipe_document::Diagnostics>(())
/// ```
///
/// `=> [CONTEXT] MODEL { FIELDS }` behind the keys makes it a [`Form`](crate::Form) of
/// that type, with the names of the keys for their values. With `over |NAME| EXPRESSION`
/// behind that, keys may be left out: their values are those of the expression, which may
/// use the context by that name. Such a table also has `inherit`, which takes what it does
/// not say from another.
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $meaning:literal])*
        $vis:vis $name:ident at $path:literal, $called:ident $what:literal
        $(, example $example:literal)? $(, with $shared:ident: $shared_type:ty)*;
        $(
            $(#[doc = $key_meaning:literal])*
            $key:ident: $type:ty $([$kind:expr])? $({ $($words:tt)* })?,
            $presence:ident $($otherwise:literal)?;
        )*
        $(=> [$context:ty] $model:ident $fields:tt $(over |$at:ident| $base:expr)?)?
    ) => {
        $(#[doc = $meaning])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            /// The table, for messages about it.
            $vis context: $crate::Context,
            $($vis $shared: $shared_type,)*
            $(
                $(#[doc = $key_meaning])*
                $vis $key: $crate::field_type!($presence $type),
            )*
        }

        impl $crate::reading::Declared for $name {
            fn section() -> &'static $crate::schema::Section {
                static SECTION: ::std::sync::LazyLock<$crate::schema::Section> =
                    ::std::sync::LazyLock::new(|| $crate::schema::Section {
                        path: $path,
                        kind: None,
                        called: $what,
                        named: $crate::is_word!(named, $called) || $crate::is_word!(open, $called),
                        open: $crate::is_word!(open, $called),
                        array: $crate::is_word!(each, $called),
                        meaning: concat!($($meaning),*).trim(),
                        example: concat!($($example)?),
                        keys: $crate::keys!(
                            [$($shared_type),*]
                            $($key: [$type] [$($kind)?] [$($($words)*)?] [$presence $($otherwise)?]
                                concat!($($key_meaning),*);)*
                        ),
                    });
                &SECTION
            }

            fn from_context(context: $crate::Context) -> $name {
                $name {
                    $($shared: $crate::reading::Declared::from_context(context.shared()),)*
                    $($key: $crate::read_key!(
                        context, $key, [$($($words)*)?] [$presence $($otherwise)?]
                    ),)*
                    context,
                }
            }
        }

        impl $crate::reading::Read for $name {
            const KIND: $crate::schema::Kind =
                $crate::schema::Kind::Table(<$name as $crate::reading::Declared>::section);

            fn read(
                given: $crate::reading::Given<'_>,
                _: &$crate::schema::Kind,
            ) -> Result<$name, $crate::Reported> {
                given.declared()
            }
        }

        $crate::table_form!(
            $name [$($context; $model $fields $(over $at $base)?)?] [$($shared: $shared_type),*]
            $($key [$type] [$($($words)*)?] $presence;)*
        );
    };
}

/// Declares the tables that `kind` chooses from: an enum with a variant for
/// each, so that a consumer must handle every one.
///
/// Each variant has the word that chooses it and the keys of its table, in the
/// form of [`table!`](crate::table).
///
/// With `makes MODEL, at NAME: CONTEXT` it is a [`Form`](crate::Form) of that type, with
/// `makes MODEL` alone wherever it stands. Each variant then says behind its keys what they make, `=> { EXPRESSION }`, which is the
/// pattern for the way back, too, unless `<= { PATTERN }` gives another.
#[macro_export]
macro_rules! kinds {
    (
        $(#[doc = $meaning:literal])*
        $vis:vis $name:ident at $path:literal, $called:ident $what:literal
        $(, makes $model:ty $(, at $at:ident: $context:ty)?)?;
        $(
            $(#[doc = $kind_meaning:literal])*
            $variant:ident $word:literal
            $(, example $example:literal)? $(, with $shared:ident: $shared_type:ty)* {
                $(
                    $(#[doc = $key_meaning:literal])*
                    $key:ident: $type:ty $([$kind:expr])? $({ $($words:tt)* })?,
                    $presence:ident $($otherwise:literal)?;
                )*
            } $(=> $made:tt $(<= $pattern:tt)?)?
        )*
    ) => {
        $(#[doc = $meaning])*
        #[derive(Clone, Debug)]
        $vis enum $name {
            $(
                $(#[doc = $kind_meaning])*
                $variant {
                    /// The table, for messages about it.
                    context: $crate::Context,
                    $($shared: $shared_type,)*
                    $(
                        $(#[doc = $key_meaning])*
                        $key: $crate::field_type!($presence $type),
                    )*
                },
            )*
        }

        impl $crate::reading::DeclaredKinds for $name {
            fn kinds() -> &'static $crate::schema::Kinds {
                static KINDS: ::std::sync::LazyLock<$crate::schema::Kinds> =
                    ::std::sync::LazyLock::new(|| $crate::schema::Kinds {
                        path: $path,
                        called: $what,
                        meaning: concat!($($meaning),*).trim(),
                        sections: vec![$($crate::schema::Section {
                            path: $path,
                            kind: Some($word),
                            called: $what,
                            named: false,
                            open: false,
                            array: $crate::is_word!(each, $called),
                            meaning: concat!($($kind_meaning),*).trim(),
                            example: concat!($($example)?),
                            keys: $crate::keys!(
                                [$($shared_type),*]
                                $($key: [$type] [$($kind)?] [$($($words)*)?]
                                    [$presence $($otherwise)?] concat!($($key_meaning),*);)*
                            ),
                        }),*],
                    });
                &KINDS
            }

            fn from_context(kind: usize, context: $crate::Context) -> $name {
                let mut number = 0..;
                $(
                    if number.next() == Some(kind) {
                        return $name::$variant {
                            $($shared: $crate::reading::Declared::from_context(context.shared()),)*
                            $($key: $crate::read_key!(
                                context, $key, [$($($words)*)?] [$presence $($otherwise)?]
                            ),)*
                            context,
                        };
                    }
                )*
                unreachable!("kind {kind} of {}", $path)
            }
        }

        impl $crate::reading::Read for $name {
            const KIND: $crate::schema::Kind =
                $crate::schema::Kind::Kinds(<$name as $crate::reading::DeclaredKinds>::kinds);

            fn read(
                given: $crate::reading::Given<'_>,
                _: &$crate::schema::Kind,
            ) -> Result<$name, $crate::Reported> {
                given.kinds()
            }
        }

        $crate::kinds_form!(
            $name [$($model $(, $at: $context)?)?]
            $(
                $variant $word [$($shared: $shared_type),*]
                [$($key [$type] [$($($words)*)?] $presence;)*]
                [$($made $($pattern)?)?]
            )*
        );

        impl $name {
            /// The table, for messages about it.
            #[allow(dead_code, reason = "not every consumer reports")]
            $vis fn context(&self) -> &$crate::Context {
                match self {
                    $($name::$variant { context, .. } => context,)*
                }
            }
        }
    };
}

/// Whether a declaration says this of its table.
#[doc(hidden)]
#[macro_export]
macro_rules! is_word {
    (named, named) => {
        true
    };
    (open, open) => {
        true
    };
    (each, each) => {
        true
    };
    ($word:ident, $called:ident) => {
        false
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! field_type {
    (or $type:ty) => {
        $crate::reading::OptionalField<$type>
    };
    ($other:ident $type:ty) => {
        $crate::reading::Field<$type>
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! keys {
    (
        [$($shared:ty),*]
        $($key:ident: [$type:ty] [$($kind:expr)?] [$($words:tt)*] [$($presence:tt)*] $meaning:expr;)*
    ) => {{
        #[allow(unused_mut, reason = "a table may have no keys")]
        let mut keys: Vec<$crate::schema::Key> = Vec::new();
        $(keys.extend(&<$shared as $crate::reading::Declared>::section().keys);)*
        $(keys.push($crate::schema::Key {
            name: stringify!($key),
            kind: $crate::key_kind!([$type] [$($kind)?] [$($words)*]),
            presence: $crate::key_presence!($($presence)*),
            meaning: $meaning.trim(),
        });)*
        keys
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! key_kind {
    ([$type:ty] [] []) => {
        <$type as $crate::reading::Read>::KIND
    };
    ([$type:ty] [$kind:expr] []) => {
        $kind
    };
    ([$type:ty] [] [all $words:expr]) => {
        $crate::schema::Kind::OneOf(
            $words.iter().map(|word| word.0).collect::<Vec<&'static str>>().leak(),
        )
    };
    ([$type:ty] [] [$($word:literal => $value:expr),* $(,)?]) => {
        $crate::schema::Kind::OneOf(&[$($word),*])
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! key_presence {
    (required) => {
        $crate::schema::Presence::Required
    };
    (default $value:literal) => {
        $crate::schema::Presence::Default(stringify!($value))
    };
    (or $text:literal) => {
        $crate::schema::Presence::Otherwise($text)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! read_key {
    ($context:ident, $key:ident, [] [required]) => {
        $context.required(stringify!($key))
    };
    ($context:ident, $key:ident, [] [default $value:literal]) => {
        $context.or_default(stringify!($key), $value)
    };
    ($context:ident, $key:ident, [] [or $text:literal]) => {
        $context.optional(stringify!($key))
    };
    ($context:ident, $key:ident, [all $words:expr] [$($presence:tt)*]) => {
        $crate::read_word!($context, $key, &$words, [$($presence)*])
    };
    ($context:ident, $key:ident, [$($word:literal => $value:expr),* $(,)?] [$($presence:tt)*]) => {
        $crate::read_word!($context, $key, &[$(($word, $value)),*], [$($presence)*])
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! read_word {
    ($context:ident, $key:ident, $words:expr, [required]) => {
        $context
            .word(stringify!($key), $words)
            .and_then(|word| $context.need(stringify!($key), word))
    };
    ($context:ident, $key:ident, $words:expr, [or $text:literal]) => {
        $context.word(stringify!($key), $words)
    };
    ($context:ident, $key:ident, $words:expr, [default $value:literal]) => {
        $context.word_or(stringify!($key), $words, $value)
    };
}
