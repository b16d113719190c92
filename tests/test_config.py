"""The settings as they are read: environment, file and defaults."""

from pathlib import Path

import pytest

from windlass.config import load


@pytest.mark.parametrize(
    "address",
    [
        "https://api.z.ai/api/coding/paas/v4",
        "https://api.z.ai/api/paas/v4/",
        "https://open.bigmodel.cn/api/paas/v4",
        "https://API.Z.AI/v1",
        "http://127.0.0.1:9999/api/paas/v4",
    ],
)
def test_z_ai_in_the_environment_without_a_model_means_its_usual_one(tmp_path: Path, address: str) -> None:
    env = {"WINDLASS_HOME": str(tmp_path), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address}
    for unset in ({}, {"LLM_MODEL": ""}, {"LLM_MODEL": "  "}):
        [provider] = load(env={**env, **unset}).providers
        assert provider.model == "glm-4.7"
    [provider] = load(env={**env, "LLM_MODEL": "glm-4.6"}).providers
    assert provider.model == "glm-4.6"


@pytest.mark.parametrize("address", ["", "https://models.example/v1", "https://notapi.z.ai.example/v1"])
def test_other_addresses_get_no_model_that_nobody_named(tmp_path: Path, address: str) -> None:
    env = {"WINDLASS_HOME": str(tmp_path), "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address}
    [provider] = load(env=env).providers
    assert provider.model == ""
