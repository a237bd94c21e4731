"""Pages that stand alone: one file, no address, readable in light and dark, on paper and a phone.

    text = page("report.html.j2", title="…", …)
    write_page(path, text)

Whatever a template is given is escaped unless it is `Markup`, which only the renderers of
`ctxlab.workbench.report` make. The page's own policy forbids it to load anything, and to run any
script but the one here, named by its hash. Not handled: what stands on a page.
"""

from ctxlab.workbench.pages.render import page as page
from ctxlab.workbench.pages.render import write_page as write_page
from ctxlab.workbench.pages.words import when as when

__all__ = ["page", "when", "write_page"]
