"""One module for each notebook: pure functions, inputs in, DataFrame out.

`claims` and `verdicts` serve all of them: they hold what was measured against what the documents
state. Nothing here draws, saves or knows a run directory; that is the workbench's.
"""
