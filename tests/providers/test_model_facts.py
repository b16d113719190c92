"""What is known of a model, from the forms in which servers tell it and from the table."""

from typing import Any

import pytest

from windlass.providers.model_facts import ModelFacts, facts_about, reported_by

OPENROUTER = {
    "id": "z-ai/glm-4.7",
    "context_length": 202752,
    "architecture": {"input_modalities": ["text", "image"]},
    "pricing": {"prompt": "0.0000004", "completion": "0.0000015", "request": "0"},
    "supported_parameters": ["max_tokens", "temperature"],
}
VLLM = {"id": "qwen", "object": "model", "max_model_len": 32768}
LLAMA_CPP = {"id": "model.gguf", "meta": {"n_ctx_train": 131072, "n_params": 8030261312}}
LM_STUDIO = {"id": "qwen2-vl-7b", "type": "vlm", "max_context_length": 32768, "capabilities": ["tool_use"]}
MISTRAL = {"id": "m", "max_context_length": 32000, "capabilities": {"function_calling": True, "vision": False}}
OLLAMA = {"id": "llama3:latest", "object": "model", "owned_by": "library"}
ODD = {"id": "x", "context_length": "many", "pricing": {"prompt": "-1", "completion": "dear"}, "capabilities": 3}


@pytest.mark.parametrize(
    ("entry", "facts"),
    [
        (OPENROUTER, ModelFacts(202752, 0.4, 1.5, images=True, tools=False, audio=False)),
        (VLLM, ModelFacts(32768)),
        (LLAMA_CPP, ModelFacts(131072)),
        (LM_STUDIO, ModelFacts(32768, images=True, tools=True)),
        (MISTRAL, ModelFacts(32000, images=False, tools=True)),
        (OLLAMA, ModelFacts()),
        (ODD, ModelFacts()),
    ],
)
def test_what_a_server_tells_of_a_model_is_read(entry: dict[str, Any], facts: ModelFacts) -> None:
    assert reported_by(entry) == facts


def test_the_table_completes_what_the_server_does_not_tell() -> None:
    known = facts_about("http://127.0.0.1:8000/v1", "zai-org/GLM-4.7", ModelFacts(context=32768))
    assert known.facts == ModelFacts(32768, images=False, tools=True)
    assert (set(known.reported), set(known.looked_up)) == ({"context"}, {"images", "tools"})


@pytest.mark.parametrize(
    ("base_url", "model", "price"),
    [
        ("https://api.z.ai/api/paas/v4", "glm-4.7", 0.6),
        ("https://api.z.ai/api/coding/paas/v4", "glm-4.7", None),  # a flat rate
        ("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", None),  # another seller
        ("https://api.anthropic.com/v1", "claude-sonnet-4-5-20250929", 3),
    ],
)
def test_a_price_of_the_table_holds_at_the_makers_own_address(base_url: str, model: str, price: float | None) -> None:
    assert facts_about(base_url, model, ModelFacts()).facts.input_price == price


def test_nothing_is_guessed_about_an_unknown_model() -> None:
    assert facts_about("https://api.openai.com/v1", "gpt-99", ModelFacts()).facts == ModelFacts()
