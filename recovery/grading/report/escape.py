"""Text of others on a page of ours. An answer of a model is hostile input, and so are names and queries.

May import: nothing of the package.
"""

from __future__ import annotations

import html
import re
from typing import Final

# Cells that Markdown shows as they are; all else goes into a code span, where no link and no mention is made.
_HARMLESS: Final = re.compile(r"(?:[^\W_]|[ .,%()+−–…:;/'’-]|(?<=[^\W_])_(?=[^\W_]))*")
_LINK: Final = re.compile(r"://|www\.", re.IGNORECASE)
_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+!|~>-])")


def clean(text: str) -> str:
    """The text on one line, without what can't be printed: controls, marks that turn the direction of writing."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "⏎").replace("\t", " ")
    return "".join(character if character.isprintable() else "\ufffd" for character in lines)


def to_html(text: str) -> str:
    """For between tags, and for attributes in double quotes."""
    return html.escape(clean(text), quote=True)


# XML 1.0 has no way to write a control character, and `clean` leaves none.
to_xml = to_html


def markdown_cell(text: str) -> str:
    """For a cell of a table."""
    text = clean(text).strip()
    if _HARMLESS.fullmatch(text) and not _LINK.search(text):
        return text
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    # A table is cut at its bars before code spans are seen, and knows no other way to write one.
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def markdown_line(text: str) -> str:
    """For a sentence: no markup, no link, no mention, no tag comes of it."""
    text = _MARKDOWN.sub(r"\\\1", clean(text)).replace("&", "&amp;").replace("<", "&lt;")
    return text.replace("@", "@\u200b").replace("://", ":\u200b//").replace("www.", "www\u200b.")
