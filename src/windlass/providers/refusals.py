"""What a provider refused of pictures and sounds, until the next start: a whole kind of a model that never took one,
else the very ones of the request that it refused, so that one broken picture does not make a model blind."""

from collections.abc import Callable

from windlass.core.messages import MediaRef
from windlass.providers.media_types import is_image

MOST = 4096
KIND, ONE = "x", "r"  # letters, as in `media`


class Refusals:
    def __init__(self) -> None:
        self._accepted: dict[str, set[MediaRef]] = {}
        self._kinds: dict[str, set[bool]] = {}  # model -> whether of images, of sounds
        self._ones: dict[str, set[MediaRef]] = {}
        self._unproven: dict[str, tuple[set[bool], set[MediaRef]]] = {}  # as before a refusal that may be about another

    def of(self, model: str) -> Callable[[MediaRef], str]:
        kinds, ones = self._kinds.get(model, set()), self._ones.get(model, set())
        return lambda ref: KIND if is_image(ref.mime) in kinds else ONE if ref in ones else ""

    def accepted(self, model: str, shown: frozenset[MediaRef]) -> None:
        """A request was answered: what was left out of it was what the model did not take."""
        if self._unproven:
            self._unproven.pop(model, None)
        if shown:
            known = self._accepted.setdefault(model, set())
            if len(known) > MOST:
                known.clear()
            known |= shown

    def refused(self, model: str, shown: frozenset[MediaRef]) -> bool:
        """A request with these was refused; True where it is worth asking again without. Without any, what was refused
        before was not about them either."""
        if not shown:
            if model in self._unproven:
                self._kinds[model], self._ones[model] = self._unproven.pop(model)
            return False
        kinds, ones = self._kinds.setdefault(model, set()), self._ones.setdefault(model, set())
        self._unproven.setdefault(model, (set(kinds), set(ones)))
        if accepted := self._accepted.get(model):
            ones |= (shown - accepted) or shown
        else:
            kinds |= {is_image(ref.mime) for ref in shown}
        return True
