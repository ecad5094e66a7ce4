//! Media driven from outside: what terminals get, and when.

#[path = "media/drive.rs"]
mod drive;

#[path = "media/aloha.rs"]
mod aloha;
#[path = "media/delay.rs"]
mod delay;
#[path = "media/rules.rs"]
mod rules;
