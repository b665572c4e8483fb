"""Which failure, on your traffic, and is the difference real: six outcomes, the noise floor, a decision rule.

Uses only the public names of `recovery`. May import: everything below that is of this folder.
"""

from .answer import Answer, NativeCall
from .calling import Reply, TransportError
from .case import Case, ExpectedCall, Rules
from .casefile import CaseFile, CaseFileError, load_cases, load_tools, read_cases
from .cell import Cell, Grade, Matrix, matrix_of
from .difference import Difference
from .documents import Problem
from .endpoints import Endpoint, Endpoints
from .filling import Progress, StimulusError
from .grade import Grader, grade, grade_answer
from .match import args_match
from .matchers import ANY, OMIT, approx, one_of, predicate, regex, text, unordered
from .outcome import OUTCOMES, TAXONOMY, Detail, Outcome, Ungraded
from .provenance import Block, NotComparableError, comparable, require_comparable
from .recorded import GraderOptions, grade_recorded
from .run import Run, run_matrix, run_matrix_async
from .schema import Checked, Schemas
from .semantic import CheckError, SemanticCheck, Verdict
from .spelling import SchemaError
from .store import OtherQuestionError, StoreError
from .truth import Truth, read_truth
from .verdict import Verdict as RunVerdict
from .verdict import decide, details_of

__all__ = [
    "ANY",
    "OMIT",
    "OUTCOMES",
    "TAXONOMY",
    "Answer",
    "Block",
    "Case",
    "CaseFile",
    "CaseFileError",
    "Cell",
    "CheckError",
    "Checked",
    "Detail",
    "Difference",
    "Endpoint",
    "Endpoints",
    "ExpectedCall",
    "Grade",
    "Grader",
    "GraderOptions",
    "Matrix",
    "NativeCall",
    "NotComparableError",
    "OtherQuestionError",
    "Outcome",
    "Problem",
    "Progress",
    "Reply",
    "Rules",
    "Run",
    "RunVerdict",
    "SchemaError",
    "Schemas",
    "SemanticCheck",
    "StimulusError",
    "StoreError",
    "TransportError",
    "Truth",
    "Ungraded",
    "Verdict",
    "approx",
    "args_match",
    "comparable",
    "decide",
    "details_of",
    "grade",
    "grade_answer",
    "grade_recorded",
    "load_cases",
    "load_tools",
    "matrix_of",
    "one_of",
    "predicate",
    "read_cases",
    "read_truth",
    "regex",
    "require_comparable",
    "run_matrix",
    "run_matrix_async",
    "text",
    "unordered",
]
