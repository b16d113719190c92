"""Cannot even be imported, as after a new release."""

raise ImportError("cannot import name 'Agent'")
