"""The rules of a turn: values, events, the next step, the prompt and the loop. Standard library only."""
