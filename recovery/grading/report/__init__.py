"""Reports of a run: what a page shows is computed once (`build`), and written as a page, as text, as data.

May import: everything below that is of this folder.
"""

from .build import build, report_of
from .compare import check_comparison, compare
from .files import to_json, to_junit
from .gate import Bound, Check, State, check_bounds, parse_bound, status
from .markdown import to_markdown
from .model import Report
from .page import to_page

__all__ = [
    "Bound",
    "Check",
    "Report",
    "State",
    "build",
    "check_bounds",
    "check_comparison",
    "compare",
    "parse_bound",
    "report_of",
    "status",
    "to_json",
    "to_junit",
    "to_markdown",
    "to_page",
]
