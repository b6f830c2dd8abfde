"""Providers whose models are asked by OpenAI's API: address, key and quirks of each, as data. Each
name is a kind of target: `groq:MODEL`, or `kind = "groq"`."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit


class Preset(NamedTuple):
    name: str
    base_url: str
    """The address of the API; empty if each user has an address of their own."""
    key_env: str = ""
    """The variable of the key in the provider's own documentation, if it needs one. Its value is
    sent to the provider's own address only: a key belongs to a host."""
    header: str = "Authorization"
    prefix: str = "Bearer "
    address_env: tuple[str, ...] = ()
    """Variables that tell the provider's own client of another address."""
    example: str = ""
    """An address, if there is no base_url."""
    hosts: str = ""
    """A pattern of the host names that the key may be sent to, if there is no base_url."""

    def is_own_address(self, address: str) -> bool:
        """Whether an address is the provider's, so that its key may be sent there."""
        if self.base_url:
            return address == self.base_url
        parts = urlsplit(address)
        return parts.scheme == "https" and bool(re.fullmatch(self.hosts, parts.hostname or ""))


OPENAI = Preset(
    "OpenAI",
    "https://api.openai.com/v1",
    "OPENAI_API_KEY",
    address_env=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
)
ANTHROPIC = Preset(
    "Anthropic",
    "https://api.anthropic.com",
    "ANTHROPIC_API_KEY",
    header="x-api-key",
    prefix="",
    address_env=("ANTHROPIC_BASE_URL",),
)
PRESETS = {
    "azure": Preset(
        "Azure OpenAI",
        "",
        "AZURE_OPENAI_API_KEY",
        header="api-key",
        prefix="",
        example="https://RESOURCE.openai.azure.com/openai/v1",
        hosts=r"[\w-]+\.(openai|services\.ai)\.azure\.com",
    ),
    "bedrock": Preset(
        "Amazon Bedrock",
        "",
        "AWS_BEARER_TOKEN_BEDROCK",
        example="https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1",
        hosts=r"bedrock-(runtime|mantle)\.[\w-]+\.(amazonaws\.com|api\.aws)",
    ),
    "cerebras": Preset("Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepseek": Preset("DeepSeek", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "fireworks": Preset("Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "gemini": Preset(
        "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"
    ),
    "groq": Preset("Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "llamacpp": Preset("llama.cpp", "http://localhost:8080/v1"),
    "lmstudio": Preset("LM Studio", "http://localhost:1234/v1"),
    "mistral": Preset("Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "ollama": Preset("Ollama", "http://localhost:11434/v1"),
    "openrouter": Preset("OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": Preset("Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "vllm": Preset("vLLM", "http://localhost:8000/v1"),
    "xai": Preset("xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
}
