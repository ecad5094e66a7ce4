//! Studies: sweeps of a scenario with tables, figures and claims.

use crate::{Error, input};
use bentpipe_study::{
    Campaign, Collection, ExecuteError, LoadedStudy, MakeRunner, Paper, Plan, ReproduceOptions,
    Reproduction, Selection, SharedMakeRunner, Simulator, check_cells,
};
use std::path::Path;
use std::sync::Arc;

/// Whether the text of a file looks like a study and not like a scenario.
#[must_use]
pub fn is_study(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let mut is_study = false;
    for line in text.lines().map(str::trim_start) {
        if ["[node", "[link", "[flow", "[[node", "[[link", "[[flow"]
            .iter()
            .any(|header| line.starts_with(header))
        {
            return false;
        }
        let headers = [
            "[axis", "[[axis", "[[table", "[[figure", "[[claim", "[[metric",
        ];
        let key = line.split('=').next().unwrap_or("").trim_end();
        is_study |= headers.iter().any(|header| line.starts_with(header))
            || ["scenario", "replications", "paper"].contains(&key);
    }
    is_study
}

/// A study with the studies that it names: those of its paper where it has
/// one, else those in its folder.
///
/// ```
/// use bentpipe::{ReproduceOptions, Study};
///
/// let study = Study::load("../../papers/marchese-2001/table-1.toml")?;
/// let results = study.run(&ReproduceOptions {
///     runs: Some(1),
///     ..ReproduceOptions::default()
/// })?;
/// let (_, table) = &results.tables[0];
/// assert!(table.cells[0][0].ours.is_some());
/// # Ok::<(), bentpipe::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Study {
    studies: Collection,
    name: String,
}

impl Study {
    /// Loads the study in the file at `path`.
    ///
    /// # Errors
    /// If a file cannot be read, or the study is wrong.
    pub fn load(path: impl AsRef<Path>) -> Result<Study, Error> {
        let path = path.as_ref();
        Study::parse(path, &input::text(path)?)
    }

    /// Takes the text of the file at `path`.
    ///
    /// # Errors
    /// If a file that it names cannot be read, or the study is wrong.
    pub fn parse(path: impl AsRef<Path>, text: &str) -> Result<Study, Error> {
        let path = path.as_ref();
        let loaded = LoadedStudy::parse(path, text)?;
        let name = loaded.study.name.clone();
        let folder = path.parent().unwrap_or(Path::new(""));
        if folder.join("paper.toml").is_file() {
            let studies = Paper::load(folder)?.studies;
            if studies.get(&name).is_some() {
                return Ok(Study { studies, name });
            }
        }
        let studies = Collection::with_siblings(loaded)?;
        Ok(Study { studies, name })
    }

    /// What the file says.
    #[must_use]
    pub fn spec(&self) -> &bentpipe_study::Study {
        &self.loaded().study
    }

    /// The studies: this one and those that it names.
    #[must_use]
    pub fn studies(&self) -> &Collection {
        &self.studies
    }

    /// The same, to change them before they run.
    pub fn studies_mut(&mut self) -> &mut Collection {
        &mut self.studies
    }

    fn loaded(&self) -> &LoadedStudy {
        // It was put in under this name, and studies are never taken out.
        self.studies
            .get(&self.name)
            .unwrap_or_else(|| unreachable!("a study is in its own collection"))
    }

    /// Checks every cell and returns how many runs there are; a study without
    /// a scenario has none.
    ///
    /// # Errors
    /// For the first cell that makes no scenario.
    pub fn check(&self) -> Result<usize, Error> {
        let loaded = self.loaded();
        if loaded.study.scenario.is_none() {
            return Ok(0);
        }
        let failed = |why| bentpipe_study::ReproduceError::Scenario(why);
        let simulator = Simulator::of(loaded).map_err(failed)?;
        let cells = check_cells(&loaded.study, &*simulator);
        cells.map_err(|e: ExecuteError| bentpipe_study::ReproduceError::from(e))?;
        Ok(Plan::new(&loaded.study, None).len())
    }

    /// Runs the study in the simulator and computes its tables, figures and
    /// claims.
    ///
    /// # Errors
    /// If a scenario is wrong, results cannot be written, or `options.watch`
    /// stops it. Runs that fail do not stop the rest.
    pub fn run(&self, options: &ReproduceOptions<'_>) -> Result<Reproduction, Error> {
        self.run_on(&Simulator::of, options)
    }

    /// As [`run`](Study::run), on something other than the simulator.
    ///
    /// # Errors
    /// As [`run`](Study::run).
    pub fn run_on(
        &self,
        runner: &MakeRunner<'_>,
        options: &ReproduceOptions<'_>,
    ) -> Result<Reproduction, Error> {
        let paper = self.spec().paper.as_deref().unwrap_or("");
        let selection = Selection::Study(self.name.clone());
        Ok(bentpipe_study::reproduce(
            &self.studies,
            paper,
            &selection,
            runner,
            options,
        )?)
    }
}

impl Study {
    /// The runs of the study in parts: tasks that any process can run, and the
    /// collector of their results. `runs` is that of [`ReproduceOptions`].
    ///
    /// ```
    /// use bentpipe::Study;
    ///
    /// let study = Study::load("../../papers/marchese-2001/table-1.toml")?;
    /// let campaign = study.campaign(Some(1))?;
    /// let folder = std::env::temp_dir().join("bentpipe-doc-campaign");
    /// let mut collector = campaign.collector(&folder, true)?;
    /// for task in campaign.tasks(4) {
    ///     // Here or on another machine.
    ///     let result = campaign.run_task(&task, 1, &|_| std::ops::ControlFlow::Continue(()))?;
    ///     collector.add(&bentpipe::TaskResult::from_bytes(&result.to_bytes())?)?;
    /// }
    /// let made = collector.finish()?;
    /// assert!(made.tables[0].1.cells[0][0].ours.is_some());
    /// # let _ = std::fs::remove_dir_all(folder);
    /// # Ok::<(), bentpipe::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a scenario is wrong.
    pub fn campaign(&self, runs: Option<u32>) -> Result<Campaign, Error> {
        self.campaign_on(Arc::new(Simulator::of), runs)
    }

    /// As [`campaign`](Study::campaign), on something other than the simulator, or on one
    /// that another thread can stop.
    ///
    /// # Errors
    /// As [`campaign`](Study::campaign).
    pub fn campaign_on(
        &self,
        make: SharedMakeRunner,
        runs: Option<u32>,
    ) -> Result<Campaign, Error> {
        let paper = self.spec().paper.as_deref().unwrap_or("");
        Ok(Campaign::new(
            self.studies.clone(),
            paper,
            &self.name,
            make,
            runs,
        )?)
    }
}

/// Runs the studies of a paper that `selection` needs and computes it.
///
/// ```
/// use bentpipe::{Paper, ReproduceOptions, Selection};
///
/// let paper = Paper::load("../../papers/marchese-2001".as_ref())?;
/// let options = ReproduceOptions { runs: Some(1), ..ReproduceOptions::default() };
/// let made = bentpipe::reproduce(&paper, &Selection::Item("table-1".into()), &options)?;
/// assert!(!made.report.rows.is_empty());
/// # Ok::<(), bentpipe::Error>(())
/// ```
///
/// # Errors
/// As [`Study::run`], or if the paper has no such item.
pub fn reproduce(
    paper: &Paper,
    selection: &Selection,
    options: &ReproduceOptions<'_>,
) -> Result<Reproduction, Error> {
    reproduce_on(paper, selection, &Simulator::of, options)
}

/// As [`reproduce`], on something other than the simulator.
///
/// # Errors
/// As [`reproduce`].
pub fn reproduce_on(
    paper: &Paper,
    selection: &Selection,
    runner: &MakeRunner<'_>,
    options: &ReproduceOptions<'_>,
) -> Result<Reproduction, Error> {
    let (studies, name) = (&paper.studies, &paper.slug);
    Ok(bentpipe_study::reproduce(
        studies, name, selection, runner, options,
    )?)
}

#[cfg(test)]
mod tests {
    use super::is_study;

    #[test]
    fn studies_are_distinguished_from_scenarios() {
        assert!(!is_study(bentpipe_scenario::template().as_bytes()));
        assert!(is_study(b"name = \"a\"\nscenario = \"geo.toml\"\n"));
        assert!(is_study(b"name = \"claims\"\n[[claim]]\nid = \"1\"\n"));
        assert!(!is_study(b"\xff\xfe"));
        assert!(!is_study(b""));
    }
}
