//! Counts that multiply: what a file makes of them, in words.

use crate::groups;
use bentpipe_scenario::Scenario;
use std::collections::BTreeSet;

/// A sentence for each declaration whose own count multiplies the pairs of nodes that it
/// joins, with how to have one flow for each pair.
pub(crate) fn notes(scenario: &Scenario) -> Vec<String> {
    let groups = groups::of_names(scenario.flows.iter().map(|f| f.name.as_str()));
    let mut notes = Vec::new();
    for group in groups {
        let ends = group.members.iter().map(|i| &scenario.flows[*i]);
        let pairs: BTreeSet<(u32, u32)> = ends.map(|f| (f.from.0, f.to.0)).collect();
        let (flows, pairs) = (group.members.len(), pairs.len());
        if pairs < 2 || flows == pairs {
            continue;
        }
        let name = group.label.split('[').next().unwrap_or("");
        notes.push(format!(
            "Note: flow `{name}` stands for {flows} flows: its `count = {}` holds for each of \
             {pairs} pairs of nodes. Without `count` in `[flow.{name}]` there is one flow for \
             each pair, {pairs} in all.",
            flows / pairs
        ));
    }
    notes
}
