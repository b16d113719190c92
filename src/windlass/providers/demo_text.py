"""What the demo model says."""

WELCOME = (
    "**This is the demo model.** It understands no language and gives the same answer each time, but the tools are "
    "real, and so is everything that happens around them. Start a line with `/` and a tool's name to call it; several "
    "such lines are called at once."
)

TRICKS = """\
What else is worth seeing:

- `/long` a long answer, to watch it stream and to stop it half way
- `/think` an answer with reasoning shown apart
- `/fail` a model that fails, and what can be done then
- `/limit` calls without end, until the limit of rounds stops them"""

HOW_TO_CONNECT = """\
**To connect a model**, open Models and add one, or set these before starting:

    OPENAI_API_KEY=…
    OPENAI_BASE_URL=https://api.z.ai/api/coding/paas/v4
    LLM_MODEL=glm-4.7

Any OpenAI-compatible server will do. Ollama, LM Studio, llama.cpp and vLLM on this machine are found by themselves."""

EXAMPLES = {
    "get_time": "/get_time",
    "calculate": "/calculate expression=6*7",
    "list_directory": "/list_directory path=.",
    "read_file": "/read_file path=welcome.md",
    "search_docs": "/search_docs query=approval",
    "count_slowly": "/count_slowly to=5",
    "write_note": '/write_note title=Hello text="Asks before it writes"',
}

FAILURE = "The demo model failed because it was asked to."
FAILURE_HINT = "Nothing was lost: retry the turn, or continue the conversation."
ONLY_DEMO_HINT = (
    "Connect it under Models, or with OPENAI_API_KEY, OPENAI_BASE_URL and LLM_MODEL, and try again. Until then choose "
    "the model `demo` for this conversation."
)

THOUGHT = (
    "The person wants to see what reasoning looks like. It is streamed and kept apart from the answer, and it is "
    "never sent to another provider. Now the answer itself."
)

LONG = """\
## A windlass, in some detail

A windlass is a drum that is turned by a crank. A rope is wound on the drum and a load hangs on the rope; each turn of \
the crank raises the load a little. What makes it safe is not the crank but the **pawl**: a small finger that drops \
behind each tooth of a wheel as it passes. Let go of the crank, and the load stays where it is.

### What that means here

1. A *turn* is a message of yours and everything it sets off: calls to the model, calls to tools, the answer.
2. Every step is written down before the next one begins. That is the pawl.
3. When the machine stops, in whatever way, the turn goes on from the last step that was written.
4. A tool call that may have had an effect is never repeated without asking you.

### What you can do while this streams

- Press **Stop**: the turn ends within two seconds, and what was said so far is kept.
- Reload the page, or open it in a second window: both show the same words at the same moment.
- Close the page: the turn goes on without you, and the answer is there when you return.

### A table, because answers have tables

| part | in a windlass | in Windlass |
|---|---|---|
| crank | turns the drum | your message |
| rope | carries the load | the log of the turn |
| pawl | holds each tooth | every event is written first |
| load | never slips back | nothing is lost or done twice |

### And some code

```python
from windlass import Windlass

async with Windlass() as w:
    turn = await w.ask("What can you do?")
    print(turn.answer)
```

That is all. The demo model has nothing more to say about windlasses, which is more than most models know."""
