"""What a model takes and costs: from its server where that tells, else from a table with a date."""

from collections.abc import Mapping

from windlass.core.values import value_object


@value_object
class ModelFacts:
    """None: not known. Prices are in US dollars for a million tokens."""

    context: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    images: bool | None = None
    tools: bool | None = None


def told_by(entry: Mapping[str, object]) -> ModelFacts:
    """The facts in one entry of a server's list, in any of the forms that servers have for them."""
    return ModelFacts()
