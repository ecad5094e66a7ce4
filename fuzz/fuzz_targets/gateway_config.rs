//! No file makes the reader of the gateway's configuration panic, and a refusal
//! says why and points into the file.

#![no_main]

use bentpipe_gateway::config::Config;
use bentpipe_gateway::intercept::{Plan, print};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Config::read(Path::new("fuzz.toml"), text) {
        Ok(config) => {
            // Text of the file becomes rules: it never leaves its place in them.
            if let Some(intercept) = &config.intercept {
                let plan = Plan {
                    name: config.name.clone(),
                    mark: intercept.mark,
                    intercept: Some(intercept.clone()),
                    except: Vec::new(),
                    except_interfaces: config.link.interfaces.clone(),
                    ipv6: true,
                };
                let rules = print(&plan);
                for chain in ["chain prerouting", "chain arriving", "table inet"] {
                    assert!(rules.matches(chain).count() >= 1);
                }
                let allowed = |c: char| c == '\n' || (' '..='~').contains(&c);
                assert!(rules.chars().all(allowed), "{rules}");
                assert_eq!(rules.matches("\nadd ").count(), 0, "{rules}");
            }
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            for error in &errors.errors {
                assert!(!error.message().is_empty());
                assert!(error.span().is_none_or(|span| span.end <= bytes.len()));
            }
            assert!(!errors.render(true).is_empty());
        }
    }
});
