"""Which failure, on your traffic, and is the difference real: six outcomes, the noise floor, a decision rule.

Uses only the public names of `recovery`. May import: everything of this folder.
"""
