"""Adapters for client libraries, one file a library; none of them imports the library.

May import: nothing of the package.
"""
