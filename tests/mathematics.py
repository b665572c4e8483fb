"""Mathematics over the names of offered tools, as variables and as functions: none of it is a call.

Expressions with every operator, equations, inequalities, LaTeX, units, formulas of spreadsheets, code; on one line and
broken at an operator, with comments in the break, in fences, behind markers, beside prose. Each text holds what would
be a call if it stood alone, and it never does. `strategies.py` writes what nearly is a call, this what only looks so.
"""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy  # noqa: TC002  # `st.composite` asks for them

# What would be a call of one of `strategies.TOOLS`, alone.
CALLS: Final = (
    *("f(x=1)", "g(x=2)", "f()", "g(y='a')", "get_weather(n=-1)", "get.weather(n=2.5)", "a_b(x=1, y=2)"),
    *("heat(mode='fan')", "f(x=[1, 2])", "x.y(a=True)", "查水位(x=3)", "f({'x': 1})", "heat('fan')", "get-docs(x=1)"),
)
_calls: Final = st.sampled_from(CALLS)
_VALUES: Final = (
    "x",
    "y",
    "f",
    "2",
    "0.5",
    "10",
    "pi",
    "e",
    "n",
    "\\alpha",
    "x^2",
    "x²",
    "f(x)",
    "g(2)",
    "(x + 1)",
)
_operands: Final = st.one_of(_calls, _calls, st.sampled_from(_VALUES))
OPERATORS: Final = (
    *"+ - * / // % ** ^ & | && || << >> = == != < > <= >= := += -= *= /= -> => <- <=> ~ @ ++ --".split(),
    *"× ÷ − ± · ⋅ ∗ ∘ ⊕ ⊗ ≤ ≥ ≠ ≈ ≡ ∼ ∝ ∈ ∉ ⊂ ⊆ ∪ ∩ ∧ ∨ → ← ↦ ⇒ ⇔ ⟹ ⟶".split(),
    *"\\cdot \\times \\div \\pm \\leq \\geq \\neq \\approx \\in \\cup \\land \\to \\implies \\circ".split(),
)
_operators: Final = st.sampled_from(OPERATORS)
_COMMENTS: Final = ("# so", "# f(x=1)", "<!-- so -->", "/* so */", "<!-- f(x=1)\n-->")
# What may stand between an operator and the operand on its line; and between the two lines of a broken expression.
_SPACES: Final = ("", " ", " ", " ", "  ", "\t")
_BREAKS: Final = (
    *("\n", "\n", "\r", "\r\n", " \n", "\n\n", "\n  ", " \\\n"),
    *(f" {comment}\n" for comment in _COMMENTS),
    *(f"\n{comment}\n" for comment in _COMMENTS),
)
_spaces: Final = st.sampled_from(_SPACES)
_breaks: Final = st.sampled_from(_BREAKS)
# Prefix and postfix signs, units and functions around an operand.
_AROUND: Final = (
    *(
        ("-", ""),
        ("+", ""),
        ("~", ""),
        ("!", ""),
        ("¬", ""),
        ("√", ""),
        ("∫ ", " dx"),
        ("∑ ", ""),
        ("∂", ""),
        ("Δy = 2", ""),
    ),
    *(
        ("2", ""),
        ("2 ", ""),
        ("2·", ""),
        ("", "!"),
        ("", "²"),
        ("", "^2"),
        ("", "'"),
        ("", "%"),
        ("", "°"),
        ("", "[0]"),
    ),
    *(("", " km"), ("", " m/s"), ("", "€"), ("$", ""), ("", ".y"), ("", ".g()"), ("", "(2)"), ("(", ")"), ("((", "))")),
    *(("|", "|"), ("‖", "‖"), ("⌊", "⌋"), ("{", "}"), ("<", ">"), ("sin(", ")"), ("max(", ", 2)"), ("f(", ")")),
    *(
        ("f(x=", ")"),
        ("[", ", 2]"),
        ("[1, ", "]"),
        ("[x, ", "]"),
        ("not ", ""),
        ("lambda: ", ""),
        ("*", ""),
        ("**", ""),
    ),
    *(("λx. ", ""), ("x ↦ ", ""), ("O(", ")"), ("d/dx ", ""), ("lim ", ""), ("E[", "]"), ("P(", " | y)")),
)


@st.composite
def _wrapped(draw: DrawFn, operands: SearchStrategy[str]) -> str:
    before, behind = draw(st.sampled_from(_AROUND))
    return before + draw(operands) + behind


@st.composite
def _joined(draw: DrawFn, operands: SearchStrategy[str], *, broken: bool) -> str:
    """Two operands or three and the operators between them; `broken`: a line ends before or behind one of these."""
    text = draw(operands)
    count = draw(st.integers(1, 2))
    at = draw(st.integers(1, count)) if broken else 0
    for number in range(1, count + 1):
        operator = draw(_operators)
        if operator == "=" and text.isidentifier():
            # `x = f(x=1)` is a call whose result gets a name.
            operator = "=="
        before = behind = draw(_spaces)
        if number == at and draw(st.booleans()):
            before, behind = draw(_breaks), draw(st.sampled_from(["", " "]))
        elif number == at:
            # Apart from what it joins: a word that ends in signs is `C++`, or an address.
            before, behind = " ", draw(_breaks)
        if operator[0] == "\\" and operator[-1].isalpha():
            before, behind = before or " ", behind or " "
        text += before + operator + behind + draw(operands)
    return text


_simple: Final = st.one_of(_joined(_operands, broken=False), _wrapped(_calls))
_nested: Final = st.one_of(_simple, _wrapped(_simple), _joined(_simple, broken=False))
_LATEX: Final = (
    *("\\[{}\\]", "\\[\n{}\n\\]", "$${}$$", "$$\n{}\n$$", "$ {} $", "\\({}\\)", "\\frac{{{}}}{{2}}", "\\sqrt{{{}}}"),
    *("\\begin{{align}}\n{}\n\\end{{align}}", "\\begin{{equation}}\n{}\n\\end{{equation}}", "\\sum_{{i=1}}^{{n}} {}"),
    *("```latex\n{}\n```", "```math\n{}\n```", "\\int {} \\, dx", "\\left({}\\right)", "\\lim_{{x \\to 0}} {}"),
)
_SHEET: Final = (
    *(
        "={}",
        "={}+A1",
        "=SUM({}, B2)",
        "=IF({}>2, A1, 0)",
        "=A1*{}",
        "=$A$1&{}",
        "={}/B:B",
        "+{}",
        "@{}",
        "'={}",
        "=-{}",
    ),
    *("| A | B |\n|---|---|\n| 1 | {} |", "A1: ={}", "a,b\n1,={}", "={{{}}}"),
)
_CODE: Final = (
    *(
        "if {} > 2:\n    pass",
        "while {}:\n    pass",
        "for x in {}:\n    pass",
        "assert {} == 2",
        "y = {} + 1",
        "y += {}",
    ),
    *(
        "def h(x={}):\n    return x",
        "def {}:\n    pass",
        "class A({}):\n    pass",
        "lambda x: {}",
        "@{}\ndef h():\n    pass",
    ),
    *(
        "y = [{}, 2]",
        "y = [\n{},\n2]",
        "y = [1,\n{},\n2]",
        "y = {{\n'a': {},\n}}",
        "y = (\n{}\n)",
        "h(\n{}\n)",
        "h(1,\n{}\n)",
    ),
    *('s = """\n{}\n"""', "s = '''\n{}\n'''", "{}.strip()", "{}[0]", "{}\n    .y()", "({})", "[[{}]]"),
    *("x if {} else y", "{} if x else y", "{} for x in y", "[{} for x in y]", "{} ? 1 : 2", "x ? {} : 2", "new {}"),
    *(
        "const y = {} + 1;",
        "let y = [{}, 1];",
        "{} |> h",
        "{} | h",
        "$ {}",
        "> {}",
        ">>> {}",
        "{} -> int",
        "fn {} {{}}",
    ),
    *("if x:\n    {}", "for x in y:\n    {}", "def h():\n    {}", "if x {{\n  {}\n}}", "try:\n\t{}\nexcept:\n\tpass"),
    *(
        "y = 2 * \\\n{}",
        "y = (1 +\n{})",
        "y = 3 - # so\n{}",
        "/*\n{}\n*/",
        "<!--\n{}\n-->",
        "# {}",
        "// {}",
        "% {}",
        "-- {}",
    ),
    *("{} && g", "{} || true", "! {}", "x; {} + 1", "{}, x = 1, 2", "x, y = {}, 2", "del {}", "raise {}", "yield {}"),
    *("<a>{}</a>", "<p>{}</p>", "&{};", "\\{{{}\\}}", "{{{{ {} }}}}", "${{{}}}", "`${{{}}}`", "%({})s", "f'{{{}}}'"),
)
_forms: Final = st.sampled_from([*_LATEX, *_SHEET, *_CODE])
expressions: Final = st.one_of(
    _nested,
    _joined(_operands, broken=True),
    _joined(_simple, broken=True),
    st.builds(str.format, _forms, _calls),
    st.builds(str.format, _forms, _calls),
    st.builds(str.format, _forms, _nested),
)
# Around an expression; "|" stands for it.
_PLACES: Final = (
    *("|",) * 12,
    *("```python\n|\n```", "```\n|\n```", "`|`", "$|$", "<tool_call>|</tool_call>", "<tool_call>\n|\n</tool_call>"),
    *("The value is\n|", "So we get:\n\n|\n\nas was to be shown.", "Then | holds.", "Hence: |", "|\nwhich is 4.", "|."),
    *(
        "<think>f(x=1)</think>\n|",
        "# so\n|",
        "1. |",
        "(1) |",
        "- |",
        "> |",
        "  |",
        "|\n|",
        "So:\n```\n|\n```\nDone.",
        "|\n",
    ),
)
mathematics: Final = st.builds(str.replace, st.sampled_from(_PLACES), st.just("|"), expressions)
