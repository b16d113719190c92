"""The tools of a conversation and of a turn: those of MCP servers, the built-in ones, and Python functions."""

from windlass.toolbox.box import EnabledToolRow, Toolbox
from windlass.toolbox.local_tools import Function, Functions
from windlass.toolbox.offers import Offer, Pin
from windlass.toolbox.questions import Questions, input_needed
from windlass.toolbox.tool_list import ToolBudget
from windlass.toolbox.unsent import UnsentCalls

__all__ = [
    "EnabledToolRow",
    "Function",
    "Functions",
    "Offer",
    "Pin",
    "Questions",
    "ToolBudget",
    "Toolbox",
    "UnsentCalls",
    "input_needed",
]
