//! Documents as flat lists of paths and values.

use serde_json::Value;
use std::collections::BTreeMap;

/// Values by their paths, in the order of the document.
pub(super) type Flat = Vec<(String, String)>;

/// Lists of more things without names are compared as one value.
const LISTED: usize = 8;

/// The leaves of a JSON value. Things in a list go by their `name`, and by their place
/// where they have none.
pub(super) fn of_json(value: &Value) -> Flat {
    let mut flat = Flat::new();
    json("", value, &mut flat);
    flat
}

fn json(path: &str, value: &Value, flat: &mut Flat) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                json(&joined(path, key), value, flat);
            }
        }
        Value::Array(list) if list.iter().all(|item| item.get("name").is_some()) => {
            for item in list {
                let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
                json(&format!("{path}[{name}]"), item, flat);
            }
        }
        Value::Array(list) if list.len() <= LISTED => {
            for (i, item) in list.iter().enumerate() {
                json(&format!("{path}[{i}]"), item, flat);
            }
        }
        Value::Array(list) => {
            let whole = Value::Array(list.clone()).to_string();
            // Thousands of samples are no value to read, but two such lists can differ.
            let text = match whole.len() > 200 {
                true => format!("{} entries ({:08x})", list.len(), checksum(&whole)),
                false => whole,
            };
            flat.push((path.to_owned(), text));
        }
        Value::String(text) => flat.push((path.to_owned(), text.clone())),
        Value::Null => {}
        other => flat.push((path.to_owned(), other.to_string())),
    }
}

/// FNV-1a: two texts that are too long to be shown differ if these do.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// `link.satellite` and `rate` as `link.satellite.rate`.
pub(super) fn joined(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// The paths of both, each with its two values: in the order of the first, and what only
/// the second has after what precedes it there. Those with equal values are left out.
pub(super) fn changed(
    before: &Flat,
    after: &Flat,
) -> Vec<(String, Option<String>, Option<String>)> {
    let of = |flat: &Flat| -> BTreeMap<String, String> { flat.iter().cloned().collect() };
    let (first, second) = (of(before), of(after));
    let mut order: Vec<&String> = before.iter().map(|(path, _)| path).collect();
    let mut place = 0;
    for (path, _) in after {
        if first.contains_key(path) {
            place = order
                .iter()
                .position(|known| *known == path)
                .map_or(place, |at| at + 1);
        } else {
            order.insert(place.min(order.len()), path);
            place += 1;
        }
    }
    order
        .into_iter()
        .map(|path| {
            (
                path.clone(),
                first.get(path).cloned(),
                second.get(path).cloned(),
            )
        })
        .filter(|(_, before, after)| before != after)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flat(value: &Value) -> Vec<(String, String)> {
        of_json(value)
    }

    #[test]
    fn things_in_a_list_go_by_their_names() {
        let value = json!({ "links": [{ "name": "a", "rate": 5 }], "seeds": [1, 2], "none": null });
        let found = flat(&value);
        let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            paths,
            ["links[a].name", "links[a].rate", "seeds[0]", "seeds[1]"]
        );
        let long: Vec<u64> = (0..1000).collect();
        let found = flat(&json!({ "long": long }));
        assert!(found[0].1.starts_with("1000 entries"), "{found:?}");
    }

    #[test]
    fn what_only_one_has_stands_where_it_would_be() {
        let list = |text: &str| -> Flat {
            text.split(' ')
                .map(|entry| {
                    let (path, value) = entry.split_once('=').unwrap();
                    (path.to_owned(), value.to_owned())
                })
                .collect()
        };
        let found = changed(&list("a=1 b=2 d=4"), &list("a=1 c=3 b=5 e=6"));
        let shown: Vec<String> = found
            .iter()
            .map(|(path, a, b)| {
                format!(
                    "{path}:{}:{}",
                    a.as_deref().unwrap_or("-"),
                    b.as_deref().unwrap_or("-")
                )
            })
            .collect();
        assert_eq!(shown, ["c:-:3", "b:2:5", "e:-:6", "d:4:-"]);
        assert!(changed(&list("a=1"), &list("a=1")).is_empty());
    }
}
