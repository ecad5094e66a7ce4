//! Results of tasks as a worker that is broken, old or hostile may send them.

use super::{Task, TaskResult};
use crate::campaign::Campaign;
use crate::collection::{Collection, LoadedStudy};
use crate::error::ReproduceError;
use crate::runner::Runner;
use crate::shards;
use crate::simulator::Simulator;
use bentpipe_outcome::JournalBuffer;
use std::fs;
use std::path::Path;
use std::sync::Arc;

const SCENARIO: &str = "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
    rate = \"1 Mbit/s\"\none_way_delay = \"10 ms\"\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
    transport = \"newreno\"\napplication = { kind = \"transfer\", size = \"10 kB\" }\n";

const STUDY: &str = "name = \"s\"\ntitle = \"S\"\nscenario = \"s.scenario.toml\"\nreplications = 2\n\
    [[axis]]\nname = \"rate\"\npath = \"link.l.rate\"\nvalues = [\"1 Mbit/s\"]\n\
    [[table]]\nslug = \"t\"\ntitle = \"T\"\nrows = [\"rate\"]\nmetric = \"transfer_time\"\nunit = \"s\"\n";

/// A study of two runs.
pub(crate) fn campaign(folder: &Path) -> Result<Campaign, ReproduceError> {
    let wrong = |why: String| ReproduceError::Task { why };
    for (name, text) in [("s.scenario.toml", SCENARIO), ("s.toml", STUDY)] {
        fs::write(folder.join(name), text).map_err(|e| wrong(e.to_string()))?;
    }
    let studies = Collection::load(&[folder.join("s.toml")]);
    let studies = studies.map_err(|e| wrong(e.render(false)))?;
    let make = |loaded: &LoadedStudy| -> Result<Box<dyn Runner>, String> {
        Ok(Box::new(Simulator::of_study(loaded)?))
    };
    Campaign::new(studies, "", "s", Arc::new(make), None)
}

/// The lines of a text as the result of a task.
fn result(campaign: &Campaign, text: &str) -> Result<TaskResult, ReproduceError> {
    let task = campaign.tasks(1).into_iter().next().unwrap_or(Task {
        index: 1,
        of: 1,
        runs: 0..0,
        seconds: 0.0,
    });
    let (header, keys) = campaign.first_study();
    let header = shards::header(&header, campaign.fingerprint(), &task);
    let mut journal = JournalBuffer::new(&header).map_err(crate::ExecuteError::from)?;
    for line in text.lines() {
        let (run, value) = line.split_once(' ').unwrap_or((line, ""));
        let run: usize = run.parse().unwrap_or(usize::MAX);
        let key = keys.get(run).map_or(line, String::as_str);
        let value: serde_json::Value =
            serde_json::from_str(value).unwrap_or_else(|_| value.to_owned().into());
        let appended = journal.append(key, &value);
        appended.map_err(crate::ExecuteError::from)?;
    }
    Ok(TaskResult {
        studies: vec![("s".to_owned(), journal.into_bytes())],
    })
}

pub(crate) fn put(bytes: &[u8], folder: &Path) {
    let Ok(campaign) = campaign(folder) else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    for result in [TaskResult::from_bytes(bytes), result(&campaign, &text)] {
        let Ok(result) = result else { continue };
        let again = TaskResult::from_bytes(&result.to_bytes());
        assert_eq!(again.ok().as_ref(), Some(&result), "what is sent arrives");
        let Ok(mut collector) = campaign.collector(&folder.join("out"), true) else {
            continue;
        };
        let added = collector.add(&result);
        // What was not taken is not half there: it can be finished with what is right.
        if added.is_err() {
            continue;
        }
        match collector.finish() {
            Ok(made) => drop(made),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;

    #[test]
    fn a_worker_may_send_anything() {
        let folder = tempfile::tempdir().unwrap();
        let campaign = campaign(folder.path()).unwrap();
        assert_eq!(campaign.runs(), 2);
        let task = &campaign.tasks(1)[0];
        let go = |_: &crate::Progress| ControlFlow::Continue(());
        let right = campaign.run_task(task, 1, &go).unwrap().to_bytes();
        put(&right, folder.path());
        for cut in [0, 1, 16, 40, right.len() / 2, right.len() - 1] {
            put(&right[..cut], folder.path());
        }
        for text in [
            "",
            "0 {\"failed\":\"no\"}\n1 {\"failed\":\"no\"}",
            "0 {\"failed\":1}\n1 3",
            "0 \"missing\"\n1 null",
            "2 {}",
            "0 {\"done\":{}}\n1 {\"done\":[]}",
        ] {
            put(text.as_bytes(), folder.path());
        }
    }
}
