"""What every client is asked to do, and how its driver reports. A driver runs in an environment of its own, knows
nothing of Windlass, and prints what it got as JSON."""

import json
import os
from collections.abc import Callable
from typing import Any

URL, KEY, MODEL = os.environ.get("CLIENT_URL", ""), os.environ.get("CLIENT_KEY", ""), "strict-model"
QUESTION = "What is the weather in Nanaimo? ### Do not repeat this."
ASKS_TOOL = "Use get_weather for Nanaimo."
TEMPERATURE, TOP_P, SEED, STOP, MOST = 0.25, 0.9, 7, "###", 500
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "number"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather", "parameters": PARAMETERS}}


def weather(city: str) -> str:
    return f"12.5 degrees in {city}"


def report(*scenarios: Callable[[], object]) -> None:
    """Each by its name; one that fails reports its error, so that both ways can be compared."""
    found: dict[str, object] = {}
    for scenario in scenarios:
        try:
            found[scenario.__name__] = scenario()
        except Exception as error:  # the report says it, and a straight one that failed fails the test
            found[scenario.__name__] = f"{type(error).__name__}: {str(error)[:300]}"
    print(json.dumps(found))
