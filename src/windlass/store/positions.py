"""Where an event lies: its conversation's number and its own number in there, as one integer, the key of its row. A new
event is then written behind the last one, and a turn's events are found between two places without an index."""

BITS = 32
LAST = (1 << BITS) - 1  # of a conversation; also the bits of a place that are the event's own number

OF_TURN = (
    "from turns t join events e on e.place between t.first_place and t.last_place and e.turn_id = t.id"
    " where t.id = ? order by e.place"
)
OF_CONVERSATION = f"events e on e.place between (c.n << {BITS}) and (c.n << {BITS}) + {LAST}"


def position_of(conversation: int, number: int) -> int:
    return conversation << BITS | number
