//! No text that somebody types as an option of `compare` makes its reader panic,
//! and what is read prints as something that reads as the same again.

#![no_main]

use bentpipe::compare::{Background, Decibels, Fade, Loss, Setting, Target};
use bentpipe::link::ModCod;
use bentpipe_orbit::{Place, Site, Walker};
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use libfuzzer_sys::fuzz_target;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Reads `text` as a `T` and prints it again.
fn there_and_back<T: FromStr + Display + PartialEq + Debug>(text: &str)
where
    T::Err: Display,
{
    match text.parse::<T>() {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(value) => {
            let printed = value.to_string();
            match printed.parse::<T>() {
                Ok(again) => assert_eq!(again.to_string(), printed, "from {text:?}"),
                Err(error) => panic!("{text:?} prints as {printed:?}: {error}"),
            }
        }
    }
}

/// Reads `text` as a `T`, whose printed form is for people only.
fn there<T: FromStr>(text: &str)
where
    T::Err: Display,
{
    if let Err(error) = text.parse::<T>() {
        assert!(!error.to_string().is_empty());
    }
}

fuzz_target!(|text: &str| {
    there_and_back::<Setting>(text);
    there_and_back::<Loss>(text);
    there_and_back::<Fade>(text);
    there_and_back::<Decibels>(text);
    there_and_back::<ModCod>(text);
    there_and_back::<Target>(text);
    there_and_back::<Duration>(text);
    there_and_back::<Rate>(text);
    there_and_back::<Bytes>(text);
    there_and_back::<Ratio>(text);
    there_and_back::<Site>(text);
    there::<Place>(text);
    there::<Walker>(text);
    there::<Background>(text);
});
