"""One driver per peer: the same turn as ours, written as that peer's own guide says, run in its own environment."""
