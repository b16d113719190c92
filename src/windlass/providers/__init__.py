"""Models behind one port: every OpenAI-compatible server, the demo model, and a scripted one for tests."""

from windlass.providers.config import ProviderConfig
from windlass.providers.demo import DEMO_MODEL, DemoModel
from windlass.providers.failures import Patience
from windlass.providers.models import DEMO, FoundServer, Models, chat_models, detect_local
from windlass.providers.openai_chat import OpenAIChat
from windlass.providers.probe import Findings, ProbeFinding
from windlass.providers.profiles import PROFILES, Profile, profile_for
from windlass.providers.scripted import ScriptedModel

__all__ = [
    "DEMO",
    "DEMO_MODEL",
    "PROFILES",
    "DemoModel",
    "Findings",
    "FoundServer",
    "Models",
    "OpenAIChat",
    "Patience",
    "ProbeFinding",
    "Profile",
    "ProviderConfig",
    "ScriptedModel",
    "chat_models",
    "detect_local",
    "profile_for",
]
