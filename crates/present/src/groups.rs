//! What one declaration with a count makes, as groups: `download[1]` to `download[400]`.

use std::collections::HashMap;

/// Flows, links or nodes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// `download[1-400]`; the name of a single member.
    pub(crate) label: String,
    /// Their places in the list.
    pub(crate) members: Vec<usize>,
}

/// Groups of names that differ in what brackets hold, in the order of their first
/// members.
pub(crate) fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Group> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut groups = by_key(names.iter().map(|name| without_index(name)));
    for group in &mut groups {
        group.label = label(&names, &group.members);
    }
    groups
}

/// The same; names that stand alone are grouped by `kind`, what they carry and how, where
/// several are alike.
pub(crate) fn of_flows<'a>(
    names: impl IntoIterator<Item = &'a str>,
    kind: impl Fn(usize) -> String,
) -> Vec<Group> {
    let counted = of_names(names);
    let keys: Vec<String> = counted
        .iter()
        .enumerate()
        .map(|(i, group)| match group.members.as_slice() {
            [one] => kind(*one),
            // No kind of a flow begins like this.
            _ => format!("\n{i}"),
        })
        .collect();
    let merged = by_key(keys.iter().cloned());
    let merged = merged
        .into_iter()
        .map(|group| match group.members.as_slice() {
            [one] => counted[*one].clone(),
            several => Group {
                label: group.label,
                members: several
                    .iter()
                    .flat_map(|i| counted[*i].members.clone())
                    .collect(),
            },
        });
    merged.collect()
}

fn by_key(keys: impl Iterator<Item = String>) -> Vec<Group> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (i, key) in keys.enumerate() {
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push(Group {
                label: key.clone(),
                members: Vec::new(),
            });
            groups.len() - 1
        });
        groups[place].members.push(i);
    }
    groups
}

/// `access[].reverse` of `access[3].reverse`.
pub(crate) fn without_index(name: &str) -> String {
    match brackets(name) {
        Some((before, _, after)) => format!("{before}[]{after}"),
        None => name.to_owned(),
    }
}

/// What stands before, in and after the brackets of a name.
fn brackets(name: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = name.split_once('[')?;
    let (index, after) = rest.split_once(']')?;
    Some((before, index, after))
}

/// Names in short: the one, `access[1-20]`, or how many they are.
pub(crate) fn span(names: &[&str]) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if distinct.last() != Some(name) {
            distinct.push(name);
        }
    }
    let all: Vec<usize> = (0..distinct.len()).collect();
    let base = distinct.first().map(|name| without_index(name));
    if distinct
        .iter()
        .all(|name| Some(without_index(name)) == base)
    {
        return label(&distinct, &all);
    }
    format!("{} nodes", distinct.len())
}

/// `access[1-20].reverse`; `leo.isl[...]` where the brackets hold no numbers in a row.
fn label(names: &[&str], members: &[usize]) -> String {
    let (Some(first), Some(last)) = (members.first(), members.last()) else {
        return String::new();
    };
    let (first, last) = (names[*first], names[*last]);
    if members.len() == 1 {
        return first.to_owned();
    }
    let (Some((before, from, after)), Some((_, to, _))) = (brackets(first), brackets(last)) else {
        return first.to_owned();
    };
    match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(a), Ok(b)) if b.checked_sub(a) == Some(members.len() - 1) => {
            format!("{before}[{a}-{b}]{after}")
        }
        _ => format!("{before}[...]{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_declaration_are_a_group() {
        let names = ["a[1]", "a[1].reverse", "a[2]", "a[2].reverse", "b"];
        let groups = of_names(names);
        let labels: Vec<&str> = groups.iter().map(|g| g.label.as_str()).collect();
        assert_eq!(labels, ["a[1-2]", "a[1-2].reverse", "b"]);
        assert_eq!(groups[1].members, [1, 3]);
        let isl = of_names(["leo.isl[2-3,2-4]", "leo.isl[3-3,4-3]"]);
        assert_eq!(isl[0].label, "leo.isl[...]");
    }

    #[test]
    fn flows_that_stand_alone_are_grouped_by_what_they_are() {
        let names = ["x", "d[1]", "d[2]", "y", "z"];
        let kinds = ["cubic, 1 MB", "", "", "cubic, 1 MB", "bbr, 1 MB"];
        let groups = of_flows(names, |i| kinds[i].to_owned());
        let found: Vec<(&str, &[usize])> = groups
            .iter()
            .map(|g| (g.label.as_str(), g.members.as_slice()))
            .collect();
        assert_eq!(
            found,
            [
                ("cubic, 1 MB", &[0, 3][..]),
                ("d[1-2]", &[1, 2]),
                ("z", &[4])
            ]
        );
    }
}
