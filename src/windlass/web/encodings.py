"""Which packed form of a file a request may get: `Accept-Encoding`, its weights respected."""

from collections.abc import Iterable

PLAIN = "identity"
PACKED = {"br": ".br", "gzip": ".gz"}  # the ending of each form's file, the smallest form first
_UNNAMED = 0.0001  # plain is acceptable without being named, but any named form is preferred to it


def best_encoding(accepted: str, available: Iterable[str]) -> str:
    """The form with the highest weight; of equals the first available one. Plain when nothing else fits."""
    weights = _weights(accepted)
    others = weights.get("*", 0.0)
    forms = [
        *((form, weights.get(form, others)) for form in available),
        (PLAIN, weights.get(PLAIN, others or _UNNAMED)),
    ]
    form, weight = max(forms, key=lambda one: one[1])
    return form if weight > 0 else PLAIN


def _weights(accepted: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, _, parameters = part.partition(";")
        key, _, value = parameters.partition("=")
        found[name.strip().removeprefix("x-")] = _number(value) if key.strip() == "q" else 1.0
    return found


def _number(text: str) -> float:
    """What is no weight counts as a refusal: plain is always right."""
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0
