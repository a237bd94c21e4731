"""What the model calls: a workspace to read, read_file, grep_search, and the toolset of them."""

from ctxlab.tools.formats import STYLES as STYLES
from ctxlab.tools.formats import pick as pick
from ctxlab.tools.formats import render as render
from ctxlab.tools.grep import SearchResult as SearchResult
from ctxlab.tools.grep import search as search
from ctxlab.tools.quota import largest_remainder as largest_remainder
from ctxlab.tools.toolset import Toolset as Toolset
from ctxlab.tools.toolset import workspace_tools as workspace_tools
from ctxlab.tools.workspace import Workspace as Workspace
