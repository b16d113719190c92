"""What a server run on this machine can reach, and how it is kept to that."""

from windlass.servers.isolation.isolation import Isolation, IsolationStatus, Launch
from windlass.servers.isolation.refusals import Refusal, RefusalLog, line_that_allows, opened
from windlass.servers.isolation.trial import IsolationLevel, IsolationTrial, trial

__all__ = [
    "Isolation",
    "IsolationLevel",
    "IsolationStatus",
    "IsolationTrial",
    "Launch",
    "Refusal",
    "RefusalLog",
    "line_that_allows",
    "opened",
    "trial",
]
