"""The definition of each tool that somebody agreed to: by naming the tool, or by offering all tools of a server, which
agrees to them as they were first offered. Any other definition stays off until it was looked at."""

import asyncio

from windlass.store import Documents
from windlass.toolbox.offers import Offer
from windlass.toolbox.rows import Pin

Key = tuple[str, str, str]


class Pins:
    def __init__(self, rows: Documents[Pin]) -> None:
        self._rows = rows
        self._known: dict[Key, Pin] = {(pin.server_id, pin.identity, pin.tool): pin for pin in rows.everything()}

    def of(self, offer: Offer) -> Pin | None:
        return self._known.get(_key(offer))

    def agreed(self, offer: Offer) -> str:
        """The hash somebody agreed to; "" where nobody was asked yet."""
        pin = self.of(offer)
        return pin.hash if pin else ""

    def changed(self, offer: Offer) -> bool:
        return self.agreed(offer) not in ("", offer.hash)

    def first(self, offer: Offer) -> "asyncio.Future[None] | None":
        """Agree to it unless there is a pin already."""
        known = self.of(offer) or offer.server.bundled
        return None if known else self.renew(offer)

    def renew(self, offer: Offer) -> "asyncio.Future[None]":
        server_id, identity, name = key = _key(offer)
        tool = offer.tool
        pin = Pin(
            server_id,
            name,
            offer.hash,
            tool.title,
            tool.description,
            tool.input_schema,
            tool.output_schema,
            tool.annotations,
            identity,
            offer.program,
        )
        self._known[key] = pin
        return self._rows.put("/".join(part for part in key if part), pin, parent=server_id)


def _key(offer: Offer) -> Key:
    return offer.server.id, offer.identity, offer.tool.name
