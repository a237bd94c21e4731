"""The report of a run: `report.html`, one offline file, from what the run directory holds.

`write_report(run_dir)` is all there is for others. Inside: `cells` reads the notebook, `outputs`
chooses what of an output is shown, `markdown`, `html`, `vector`, `ansi`, `code` and `text` each
make one kind of it safe, `facts` tells the manifest, `document` puts the page together.
"""

from ctxlab.workbench.report.document import write_report as write_report

__all__ = ["write_report"]
