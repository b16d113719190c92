"""Web search, tried apart from any conversation."""

from windlass import shapes
from windlass.providers import Models
from windlass.searching import Searching


class SearchVerbs:
    def __init__(self, searching: Searching, models: Models) -> None:
        self._searching = searching
        self._models = models

    async def test(self, wanted: shapes.SearchTest) -> shapes.SearchTrials:
        """Each backend that a turn of the default provider may use, by itself."""
        found = await self._searching.for_provider(self._models.config()).trials(wanted.query)
        trials = [
            shapes.SearchTrial(
                trial.backend, trial.works, trial.told, [shapes.SearchHit(hit.title, hit.url) for hit in trial.hits]
            )
            for trial in found
        ]
        return shapes.SearchTrials(trials, len(trials))
