"""The statistics of a matrix of outcomes: rates, paired differences, the noise floor, planning, families of tests.

Needs numpy. Counts come in as arrays of whole numbers, rates go out as shares of 1.
May import: everything of this folder.
"""
