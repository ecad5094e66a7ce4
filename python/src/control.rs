//! Congestion controls that are Python classes.
//!
//! One object of each kind of event is made per connection and filled again for
//! each call, so that an acknowledgement allocates nothing but the arguments of
//! the call.

use crate::errors::{self, Kind};
use crate::events::{AckView, LossView, TimeoutView, WindowView};
use bentpipe::cc::own::{self, Definition, OwnControl};
use bentpipe::cc::{
    Ack, CongestionControl, Loss, Parameter, Parameters, RecoveryExit, Timeout, Window,
};
use bentpipe::units::{Duration, Segments};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the class raised, with the text that the run's error has of it, so that
/// the traceback is not lost between threads.
static RAISED: Mutex<Vec<(String, PyErr)>> = Mutex::new(Vec::new());

/// Exceptions that are kept at most; all of them are of one call mostly.
const KEPT: usize = 16;

/// Forgets what was raised before.
pub(crate) fn forget() {
    RAISED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clear();
}

/// True if a class has raised something since [`forget`].
pub(crate) fn has_raised() -> bool {
    let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    !raised.is_empty()
}

/// The exception behind the error of a run, if it is one.
pub(crate) fn cause(message: &str) -> Option<PyErr> {
    let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = raised.iter().position(|(text, _)| message.contains(text));
    at.map(|at| raised.swap_remove(at).1)
}

/// The first exception that a class has raised since [`forget`].
pub(crate) fn first() -> Option<(String, PyErr)> {
    let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    (!raised.is_empty()).then(|| raised.remove(0))
}

/// Keeps an exception and returns the text for the run's error.
fn keep(py: Python<'_>, error: PyErr) -> String {
    let text = format!("{}", error);
    let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    if raised.len() < KEPT {
        raised.push((text.clone(), error.clone_ref(py)));
    }
    text
}

/// The names of the classes.
static CLASSES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn classes() -> MutexGuard<'static, BTreeSet<String>> {
    CLASSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does a run of classes with the interpreter's lock, so that a call takes none:
/// from a thread that Python does not know each call would also make a thread state
/// again. Other threads get the lock as they do from Python code, in the middle of
/// calls.
pub(crate) fn surround(controls: &[&OwnControl], run: &mut dyn FnMut()) {
    let is_class = |control: &&&OwnControl| classes().contains(control.name());
    match controls.iter().any(|control| is_class(&control)) {
        true => Python::attach(|_| run()),
        false => run(),
    }
}

/// What a class says of itself.
#[derive(Clone, Debug, FromPyObject)]
#[pyo3(from_item_all)]
struct Facts {
    name: String,
    summary: String,
    origin: String,
    fingerprint: String,
    parameters: Vec<(String, f64)>,
    rate_samples: bool,
}

/// Makes a class known as a congestion control; `facts` is a dictionary.
#[pyfunction]
pub(crate) fn register(
    py: Python<'_>,
    class: Bound<'_, PyAny>,
    facts: Bound<'_, PyDict>,
) -> PyResult<()> {
    let facts: Facts = facts.extract()?;
    let parameter = |(name, default): &(String, f64)| {
        let whole = (f64::MIN, f64::MAX);
        Parameter::of_number(name.clone(), *default, whole, "", "")
    };
    let definition = Definition {
        summary: facts.summary.clone(),
        origin: facts.origin.clone(),
        parameters: facts.parameters.iter().map(parameter).collect(),
        ..Definition::new(facts.name.clone(), facts.fingerprint.clone())
    };
    let name = facts.name.clone();
    let class = class.unbind();
    let control = OwnControl::new(definition, move |parameters: &Parameters| {
        Python::attach(|py| {
            let made = PyControl::new(py, class.bind(py), &facts, parameters);
            let boxed = |made| Box::new(made) as Box<dyn CongestionControl>;
            made.map(boxed).map_err(|error| keep(py, error))
        })
    });
    let registered = control.and_then(bentpipe::register_control);
    registered.map_err(|e| errors::exception(py, Kind::Option, &e.to_string()))?;
    classes().insert(name);
    Ok(())
}

/// Forgets the control of that name; false if there is none.
#[pyfunction]
pub(crate) fn unregister(name: &str) -> bool {
    own::unregister(name).is_some()
}

/// The control of one connection.
struct PyControl {
    name: String,
    calls: Calls,
    ack: Py<AckView>,
    loss: Py<LossView>,
    timeout: Py<TimeoutView>,
    window: Py<WindowView>,
    rate_samples: bool,
    failure: Option<String>,
}

/// The bound methods of the object.
struct Calls {
    ack: Py<PyAny>,
    established: Option<Py<PyAny>>,
    loss: Option<Py<PyAny>>,
    timeout: Option<Py<PyAny>>,
    recovery_exit: Option<Py<PyAny>>,
    spurious: Option<Py<PyAny>>,
    idle: Option<Py<PyAny>>,
}

impl PyControl {
    fn new(
        py: Python<'_>,
        class: &Bound<'_, PyAny>,
        facts: &Facts,
        parameters: &Parameters,
    ) -> PyResult<PyControl> {
        let given = PyDict::new(py);
        for (name, _) in &facts.parameters {
            given.set_item(name, parameters.number(name))?;
        }
        let object = class.call((), Some(&given))?;
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            Ok(object.getattr_opt(name)?.map(Bound::unbind))
        };
        let missing = || PyTypeError::new_err("the class has no method `on_ack`");
        Ok(PyControl {
            name: facts.name.clone(),
            calls: Calls {
                ack: method("on_ack")?.ok_or_else(missing)?,
                established: method("on_established")?,
                loss: method("on_loss")?,
                timeout: method("on_timeout")?,
                recovery_exit: method("on_recovery_exit")?,
                spurious: method("on_spurious")?,
                idle: method("after_idle")?,
            },
            ack: Py::new(py, AckView::default())?,
            loss: Py::new(py, LossView::default())?,
            timeout: Py::new(py, TimeoutView::default())?,
            window: Py::new(py, WindowView::default())?,
            rate_samples: facts.rate_samples,
            failure: None,
        })
    }

    /// Calls a method with `arguments` and the window, and takes over what it made
    /// of the window.
    fn call<'py>(
        &mut self,
        py: Python<'py>,
        method: fn(&Calls) -> Option<&Py<PyAny>>,
        event: Option<Bound<'py, PyAny>>,
        window: &mut Window,
    ) {
        let done = method(&self.calls).map_or(Ok(()), |method| {
            let view = self.window.bind(py);
            view.borrow_mut().fill(window);
            match event {
                Some(event) => method.bind(py).call1((event, view))?,
                None => method.bind(py).call1((view,))?,
            };
            view.borrow().read(window)
        });
        if let Err(error) = done {
            self.failure = Some(keep(py, error));
            // The guard around every control of one's own stops it then.
            window.cwnd = f64::NAN;
        }
    }
}

impl fmt::Debug for PyControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyControl")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a control does that says nothing about an event: RFC 5681's rules.
#[derive(Debug)]
struct Standard;

impl CongestionControl for Standard {
    fn name(&self) -> &str {
        ""
    }

    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
}

impl CongestionControl for PyControl {
    fn name(&self) -> &str {
        &self.name
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        Python::attach(|py| {
            let view = self.ack.bind(py).clone();
            view.borrow_mut().fill(ack);
            self.call(py, |calls| Some(&calls.ack), Some(view.into_any()), window);
        });
    }

    fn on_established(&mut self, rtt: Option<Duration>, window: &mut Window) {
        if self.calls.established.is_none() {
            return;
        }
        Python::attach(|py| {
            let rtt = rtt.map(Duration::as_secs).into_pyobject(py);
            let rtt = rtt.map(Bound::into_any).ok();
            self.call(py, |calls| calls.established.as_ref(), rtt, window);
        });
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) {
        if self.calls.loss.is_none() {
            return Standard.on_loss(loss, window);
        }
        Python::attach(|py| {
            let view = self.loss.bind(py).clone();
            view.borrow_mut().fill(loss);
            self.call(
                py,
                |calls| calls.loss.as_ref(),
                Some(view.into_any()),
                window,
            );
        });
    }

    fn on_timeout(&mut self, timeout: &Timeout, window: &mut Window) {
        if self.calls.timeout.is_none() {
            return Standard.on_timeout(timeout, window);
        }
        Python::attach(|py| {
            let view = self.timeout.bind(py).clone();
            view.borrow_mut().fill(timeout);
            self.call(
                py,
                |calls| calls.timeout.as_ref(),
                Some(view.into_any()),
                window,
            );
        });
    }

    fn on_recovery_exit(&mut self, exit: &RecoveryExit, window: &mut Window) {
        Standard.on_recovery_exit(exit, window);
        if self.calls.recovery_exit.is_some() {
            Python::attach(|py| {
                self.call(py, |calls| calls.recovery_exit.as_ref(), None, window);
            });
        }
    }

    fn on_spurious(&mut self, before: &Window, window: &mut Window) {
        if self.calls.spurious.is_none() {
            return Standard.on_spurious(before, window);
        }
        Python::attach(|py| {
            let before = (before.cwnd, before.ssthresh).into_pyobject(py);
            let before = before.map(|pair: Bound<'_, PyTuple>| pair.into_any()).ok();
            self.call(py, |calls| calls.spurious.as_ref(), before, window);
        });
    }

    fn after_idle(&mut self, initial_window: Segments, window: &mut Window) {
        if self.calls.idle.is_none() {
            return Standard.after_idle(initial_window, window);
        }
        Python::attach(|py| {
            let initial = initial_window.into_pyobject(py);
            let initial = initial.map(Bound::into_any).ok();
            self.call(py, |calls| calls.idle.as_ref(), initial, window);
        });
    }

    fn needs_rate_samples(&self) -> bool {
        self.rate_samples
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
