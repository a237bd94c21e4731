"""The gallery of entries and runs: `results/index.html`, derived from what stands beside it.

`rebuild(store)` and `write_index(results_dir)` are all there is for others. Inside: `seen` reads
the runs, `card` makes of each entry what the page shows, `gallery` writes the page.
"""

from ctxlab.workbench.index.gallery import rebuild as rebuild
from ctxlab.workbench.index.gallery import write_index as write_index

__all__ = ["rebuild", "write_index"]
