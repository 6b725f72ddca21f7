"""How does text become a vector? Any object with `encode`, checked, and matched with what the store holds."""

from __future__ import annotations

import base64
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brain.errors import EmbeddingError, InputError
from brain.model.policy import Policy
from brain.store.base import Store
from brain.store.values import EmbeddingStamp

PROBE = "first gather the evidence, then test each hypothesis"
"""The fixed text by whose vector a model is recognised."""
SAME_MODEL = 0.99
"""Cosine of two answers to the probe from which they are taken for the same model on another machine."""

UNFINISHED = "unfinished"
"""Begins the kind of text in the stamp of a store whose vectors are being replaced."""

Vector = NDArray[np.float32]

_ANOTHER = "Look what it was asked and answers, or use another one."


class Embedder(Protocol):
    """What sentence-transformers models offer: texts in, an array of shape (texts, dimension) out."""

    def encode(self, sentences: list[str], /) -> Any: ...


def embedding_of(embedder: str | Embedder | None, policy: Policy) -> Embedding | None:
    """The embedding that a brain works with under a policy; it was asked once, so that one that cannot embed is refused
    before a store is opened. Raises `InputError`, `EmbeddingError`.
    """
    loaded = load_embedder(embedder)
    if loaded is None:
        return None
    kind = "guide" if policy.semantic == "guide" else "procedure"
    embedding = Embedding(loaded, kind, embedder if isinstance(embedder, str) else "")
    _ = embedding.stamp
    return embedding


def load_embedder(embedder: str | Embedder | None) -> Embedder | None:
    """An object with `encode` as it is; a name or folder by sentence-transformers."""
    if embedder is None or (callable(getattr(embedder, "encode", None)) and not isinstance(embedder, str)):
        return embedder
    if not isinstance(embedder, str):
        raise InputError(
            f"embedder must be a model's name or an object with encode(texts), not {embedder!r}. "
            "Leave it out to do without vectors."
        )
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingError(
            'Loading a model by name needs sentence-transformers: pip install "brain[embeddings]".'
        ) from error
    try:
        model: Embedder = SentenceTransformer(embedder)
        return model
    except Exception as error:  # the library raises many kinds for a missing model
        raise EmbeddingError(
            f"The model {embedder!r} cannot be loaded: {error}. Check its name, or give its folder."
        ) from error


class Embedding:
    """An embedder together with the kind of text that it embeds ("procedure" or "guide")."""

    def __init__(self, embedder: Embedder, text: str, name: str = "") -> None:
        self._embedder, self._text, self._name = embedder, text, Path(name).name or _name(embedder)
        self._stamp: EmbeddingStamp | None = None
        self._lock = threading.Lock()

    @property
    def stamp(self) -> EmbeddingStamp:
        """What is noted in the store beside vectors of this embedder."""
        if self._stamp is None:
            probe = self.encode([PROBE])[0]
            text = base64.b64encode(probe.tobytes()).decode()
            self._stamp = EmbeddingStamp(self._name, len(probe), self._text, text)
        return self._stamp

    @property
    def unfinished_stamp(self) -> EmbeddingStamp:
        """What is noted while vectors are being replaced; it fits no embedder."""
        return replace(self.stamp, text=f"{UNFINISHED} {self._text}")

    def encode(self, texts: Sequence[str]) -> Vector:
        """Unit vectors, float32, shape (texts, dimension); a vector of zeros stays one."""
        try:
            with self._lock:  # not every model may be asked from several threads at once
                answer = np.asarray(self._embedder.encode(list(texts)))
            raw = answer.astype(np.float64, casting="same_kind")
        except Exception as error:  # any embedder may raise anything
            raise EmbeddingError(
                f"The embedder {self._name} failed: {error}. It must take a list of texts and give an array of "
                "numbers; correct it, or open the brain without it."
            ) from error
        if raw.ndim != 2 or len(raw) != len(texts) or not raw.shape[1]:
            raise EmbeddingError(
                f"The embedder {self._name} gave shape {raw.shape} for {len(texts)} texts; expected one vector each. "
                "Have encode() give an array of shape (texts, dimension)."
            )
        if not np.isfinite(raw).all():
            raise EmbeddingError(f"The embedder {self._name} gave numbers that are not finite. {_ANOTHER}")
        if self._stamp is not None and raw.shape[1] != self._stamp.dimension:
            raise EmbeddingError(
                f"The embedder {self._name} gave {raw.shape[1]} dimensions, after {self._stamp.dimension} before. "
                f"{_ANOTHER}"
            )
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(raw, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            raise EmbeddingError(f"The embedder {self._name} gave numbers that are too large. {_ANOTHER}")
        return (raw / np.where(norms > 0, norms, 1.0)).astype(np.float32)

    def check(self, stored: EmbeddingStamp | None, location: str) -> None:
        """Raises `EmbeddingError` if vectors of another model, dimension or kind of text are stored."""
        if stored is None or fits(stored, self.stamp):
            return
        mine = self.stamp
        if stored.text.startswith(UNFINISHED):
            raise EmbeddingError(
                f"{location}: embedding everything anew with {stored.model} was cut short, so its vectors are of two "
                "kinds. Run `brain reembed` again, or open it without an embedder."
            )
        raise EmbeddingError(
            f"{location} holds vectors of {stored.model} (dimension {stored.dimension}, text {stored.text!r}); "
            f"the embedder at hand is {mine.model} (dimension {mine.dimension}, text {mine.text!r}). "
            "Open it with the model it was made with, or embed everything anew with `brain reembed`."
        )

    def note(self, store: Store, operation: str) -> None:
        """Notes the stamp in a store that holds no vectors yet; raises `EmbeddingError` if another one is noted."""
        noted = store.embedding_stamp() or store.set_embedding_stamp(self.stamp, None, operation=operation)
        self.check(noted, store.location)


def fits(stored: EmbeddingStamp, mine: EmbeddingStamp) -> bool:
    """Whether two stamps are of one model: same dimension and kind of text, and nearly the same answer to the probe."""
    if stored.dimension != mine.dimension or stored.text != mine.text:
        return False
    left, right = (np.frombuffer(base64.b64decode(stamp.probe), np.float32) for stamp in (stored, mine))
    zero = not left.any() and not right.any()
    return zero or float(left @ right) >= SAME_MODEL


def _name(embedder: Embedder) -> str:
    name = getattr(embedder, "name", None)
    return name if isinstance(name, str) and name else type(embedder).__name__
