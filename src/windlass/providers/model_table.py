"""Facts about well-known models, as their makers and the public models.dev collection gave them on `AS_OF`. What was
not certain is left out. Prices are in US dollars for a million tokens, hold at the maker's own address, and change."""

from windlass.core.values import value_object

AS_OF = "2026-11-18"
ZAI = "*/api/paas/v4*"  # pay as you go; the coding plan's address has no price per token
OPENAI = "*//api.openai.com/*"
CLAUDE = "*//api.anthropic.com/*"
GEMINI = "*//generativelanguage.googleapis.com/*"
MISTRAL = "*//api.mistral.ai/*"
QWEN = "*dashscope*"


@value_object
class TableRow:
    """`model` is a shell pattern over the name without its maker and without a suffix after a colon."""

    model: str
    context: int | None = None
    input_price: float | None = None
    output_price: float | None = None
    images: bool | None = False
    tools: bool | None = True
    address: str = ""
    audio: bool | None = None


TABLE: tuple[TableRow, ...] = (
    TableRow("glm-5.1", 204_800),
    TableRow("glm-4.7", 204_800, 0.6, 2.2, address=ZAI),
    TableRow("glm-4.7-flash", 200_000, 0, 0, address=ZAI),
    TableRow("glm-4.6v", 128_000, 0.3, 0.9, images=True, address=ZAI),
    TableRow("glm-4.6", 204_800, 0.6, 2.2, address=ZAI),
    TableRow("glm-4.5v", 64_000, 0.6, 1.8, images=True, address=ZAI),
    TableRow("glm-4.5-air", 131_072, 0.2, 1.1, address=ZAI),
    TableRow("glm-4.5", 131_072, 0.6, 2.2, address=ZAI),
    TableRow("gpt-5.1", 400_000, 1.25, 10, images=True, address=OPENAI),
    TableRow("gpt-5", 400_000, 1.25, 10, images=True, address=OPENAI),
    TableRow("gpt-5-mini", 400_000, 0.25, 2, images=True, address=OPENAI),
    TableRow("gpt-5-nano", 400_000, 0.05, 0.4, images=True, address=OPENAI),
    TableRow("gpt-4o", 128_000, images=True),
    TableRow("gpt-4o-audio-preview*", 128_000, audio=True),
    TableRow("gpt-audio*", 128_000, audio=True),
    TableRow("o3", 200_000, 2, 8, images=True, address=OPENAI),
    TableRow("o4-mini", 200_000, 1.1, 4.4, images=True, address=OPENAI),
    TableRow("claude-sonnet-4[.-]6*", 1_000_000, 3, 15, images=True, address=CLAUDE),
    TableRow("claude-sonnet-4[.-]5*", 200_000, 3, 15, images=True, address=CLAUDE),
    TableRow("claude-opus-4[.-]5*", 200_000, 5, 25, images=True, address=CLAUDE),
    TableRow("claude-haiku-4[.-]5*", 200_000, 1, 5, images=True, address=CLAUDE),
    TableRow("gemini-2.5-pro", 1_048_576, 1.25, 10, images=True, address=GEMINI, audio=True),
    TableRow("gemini-2.5-flash", 1_048_576, 0.3, 2.5, images=True, address=GEMINI, audio=True),
    TableRow("qwen3-max", 262_144, 1.2, 6, address=QWEN),
    TableRow("qwen3-32b", None, 0.16, 0.64, address=QWEN),
    TableRow("deepseek-v4-pro"),
    TableRow("deepseek-chat"),
    TableRow("llama-3.[13]-*", 131_072),
    TableRow("llama3.[13]*", 131_072),
    TableRow("mistral-large-2512", 262_144, 0.5, 1.5, images=True, address=MISTRAL),
    TableRow("mistral-small-2506", 128_000, 0.1, 0.3, images=True, address=MISTRAL),
)
