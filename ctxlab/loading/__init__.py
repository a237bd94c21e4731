"""Deferred loading: MCP servers' tool lists, thresholds and tool search (source: `tool-search`).

Importing this package does not import the `mcp` SDK, which takes a second.
"""

from ctxlab.loading.bm25 import Bm25ToolSearch as Bm25ToolSearch
from ctxlab.loading.conditions import CONDITIONS as CONDITIONS
from ctxlab.loading.conditions import Condition as Condition
from ctxlab.loading.config import McpServer as McpServer
from ctxlab.loading.config import read_servers as read_servers
from ctxlab.loading.joining import join_tools as join_tools
from ctxlab.loading.joining import joined_name as joined_name
from ctxlab.loading.listing import Listing as Listing
from ctxlab.loading.listing import ServerFailure as ServerFailure
from ctxlab.loading.listing import ServerTools as ServerTools
from ctxlab.loading.listing import list_many as list_many
from ctxlab.loading.listing import list_tools as list_tools
from ctxlab.loading.plan import SEARCH_ENTRIES as SEARCH_ENTRIES
from ctxlab.loading.plan import ContextTokens as ContextTokens
from ctxlab.loading.plan import LoadingPlan as LoadingPlan
from ctxlab.loading.plan import plan_loading as plan_loading
from ctxlab.loading.regex_search import RegexToolSearch as RegexToolSearch
