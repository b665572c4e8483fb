"""`recovery serve`: a reverse proxy for any server that speaks OpenAI's API, which recovers calls written as text.

Needs the extra `serve`. May import: nothing of the package.
"""
