"""TCP over satellite links: which transport to run, and what it will do there.

>>> import bentpipe
>>> answer = bentpipe.compare(rate="2 Mbit/s", loss="0", size="300 kB",
...                           transport=["cubic", "cubic + IW 32"])
>>> answer.transport
'cubic + IW 32'

===========================  ==========================================================
to                           use
===========================  ==========================================================
compare transports           :func:`compare`, :class:`Answer`, :class:`Why`
find how many users fit      :func:`capacity`, :class:`Capacity`
fit a link to a capture      :func:`fit`, :class:`Fit`
find what differs            :func:`diff`, :class:`Difference`
run a scenario               :class:`Scenario`, :func:`run`, :class:`Outcome`
sweep a scenario             :class:`Study`, :class:`Results`
compare with papers          :func:`reproduce`, :func:`papers`
try your own control         :func:`register`, :class:`CongestionControl`
list the transports          :func:`transports`, :func:`transport`
see how a link changes       :mod:`bentpipe.link`
===========================  ==========================================================

Results go to pandas, polars, pyarrow and DuckDB without copying, by the Arrow
PyCapsule interface; ``to_frame()`` makes a frame of an installed library. Quantities
are strings with a unit in arguments, and numbers with the unit in the name in
results.
"""

from . import link
from ._bentpipe import version as _version
from ._capacity import Capacity, capacity
from ._compare import Answer, ByUsers, Why, compare, compare_by_users
from ._controls import (
    Ack,
    CongestionControl,
    Loss,
    Timeout,
    Window,
    control,
    register,
    registered,
    unregister,
)
from ._diff import Difference, diff
from ._errors import Error, InputError, OptionError, RunError, ScenarioError, StudyError
from ._fit import Estimate, Fit, fit
from ._keywords import CompareOptions
from ._picture import Picture
from ._scenario import Outcome, Scenario, ScenarioBuilder, run
from ._study import Results, Study, papers, reproduce
from ._table import Table
from ._transports import transport, transports

__version__ = _version()

__all__ = [
    "Ack",
    "Answer",
    "ByUsers",
    "Capacity",
    "CompareOptions",
    "CongestionControl",
    "Difference",
    "Error",
    "Estimate",
    "Fit",
    "InputError",
    "Loss",
    "OptionError",
    "Outcome",
    "Picture",
    "Results",
    "RunError",
    "Scenario",
    "ScenarioBuilder",
    "ScenarioError",
    "Study",
    "StudyError",
    "Table",
    "Timeout",
    "Why",
    "Window",
    "__version__",
    "capacity",
    "compare",
    "compare_by_users",
    "control",
    "diff",
    "fit",
    "link",
    "papers",
    "register",
    "registered",
    "reproduce",
    "run",
    "template",
    "transport",
    "transports",
    "unregister",
]


def template() -> str:
    """The commented scenario that ``bentpipe new`` writes, as text.

    Returns
    -------
    str
    """
    from . import _bentpipe

    return _bentpipe.template()
