"""Embeddings of the strict model server: made from the text alone, so that the same text has the same vector."""

import hashlib
import struct
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

PARAMETERS = frozenset({"model", "input", "dimensions", "encoding_format", "user"})


def embedding_faults(body: Mapping[str, Any]) -> list[str]:
    faults = [f"unknown parameter '{key}'" for key in body if key not in PARAMETERS]
    if not isinstance(body.get("model"), str) or not body["model"]:
        faults.append("model: a non-empty string is required")
    if not body.get("input") or not isinstance(body["input"], str | list):
        faults.append("input: must not be empty")
    if (body.get("encoding_format") or "float") not in ("float", "base64"):
        faults.append("encoding_format: must be float or base64")
    return faults


def embeddings(body: Mapping[str, Any]) -> dict[str, object]:
    given = body["input"]
    tokens = isinstance(given, list) and isinstance(given[0], int)
    texts = [str(given)] if isinstance(given, str) or tokens else [str(text) for text in given]
    vectors = [_vector(text, body.get("dimensions") or 4) for text in texts]
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else vector}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
    return {"object": "list", "data": data, "model": body["model"], "usage": usage}


def _vector(text: str, size: int) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [digest[index % len(digest)] / 256 for index in range(size)]


def _packed(vector: list[float]) -> str:
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
