"""Web search, tried apart from any conversation."""

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.providers import Models
from windlass.toolbox.search_backends import SearchBackends


class SearchTests:
    def __init__(self, search_backends: SearchBackends, models: Models) -> None:
        self._search_backends = search_backends
        self._models = models

    @serves(routes.search.test)
    async def test(self, wanted: schemas.SearchTest) -> schemas.SearchTrials:
        """Each backend that a turn of the default provider may use, by itself."""
        found = await self._search_backends.for_provider(self._models.config()).trials(wanted.query)
        trials = [
            schemas.SearchTrial(
                trial.backend, trial.works, trial.told, [schemas.SearchHit(hit.title, hit.url) for hit in trial.hits]
            )
            for trial in found
        ]
        return schemas.SearchTrials(trials, len(trials))
