"""Models behind one port: every OpenAI-compatible server, the demo model, and a scripted one for tests."""

from windlass.providers.catalog import FoundServer, ListedModel, chat_models, detect_local, fetch_models
from windlass.providers.config import RESERVED_NAME, ModelSetting, ProviderConfig, host_of
from windlass.providers.demo import DEMO_MODEL, DemoModel
from windlass.providers.failures import Patience
from windlass.providers.lookup import FoundModel, first_edition
from windlass.providers.media import KeptMedia, MediaBudget
from windlass.providers.model_facts import ModelFacts
from windlass.providers.model_lists import KeptList
from windlass.providers.model_table import AS_OF
from windlass.providers.models import DEMO, Models
from windlass.providers.openai_chat import OpenAIChat
from windlass.providers.probe import Findings, ProbeFinding
from windlass.providers.profiles import PROFILES, Profile, profile_for
from windlass.providers.raw_request import post_chat
from windlass.providers.scripted import ScriptedModel

__all__ = [
    "AS_OF",
    "DEMO",
    "DEMO_MODEL",
    "PROFILES",
    "RESERVED_NAME",
    "DemoModel",
    "Findings",
    "FoundModel",
    "FoundServer",
    "KeptList",
    "KeptMedia",
    "ListedModel",
    "MediaBudget",
    "ModelFacts",
    "ModelSetting",
    "Models",
    "OpenAIChat",
    "Patience",
    "ProbeFinding",
    "Profile",
    "ProviderConfig",
    "ScriptedModel",
    "chat_models",
    "detect_local",
    "fetch_models",
    "first_edition",
    "host_of",
    "post_chat",
    "profile_for",
]
