"""How an index is kept and searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Name: TypeAlias = Literal["exact", "faiss", "milvus"]
ENGINES: tuple[Name, ...] = get_args(Name)
Consistency: TypeAlias = Literal["strong", "session", "bounded", "eventually"]


@dataclass(frozen=True)
class IndexSettings:
    """The engine and what it can be told.

    `faiss` compares up to `flat` vectors one by one; above, a graph (HNSW) with `links` a vector is
    built looking at `building` candidates and asked looking at `asking`. Files are written anew
    without what was removed once that is more than a share `compact`.

    `milvus` speaks to the server at `uri`, in batches of `batch` vectors. `consistency` is what a
    search may miss: `strong` nothing, `session` what others wrote just now, `bounded` the last
    seconds, `eventually` more.
    """

    engine: Name = "faiss"
    flat: int = 20_000
    links: int = 32
    building: int = 128
    asking: int = 128
    compact: float = 0.2
    uri: str = ""
    consistency: Consistency = "strong"
    batch: int = 1_000

    def __post_init__(self) -> None:
        for name in ("links", "building", "asking"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name} must be at least 2, found {getattr(self, name)}")
        if self.flat < 0:
            raise ValueError(f"flat must be at least 0, found {self.flat}")
        if self.batch < 1:
            raise ValueError(f"batch must be at least 1, found {self.batch}")
        if not 0 < self.compact <= 1:
            raise ValueError(f"compact must be above 0 and at most 1, found {self.compact}")
        if (self.engine == "milvus") != bool(self.uri):
            wanted = "needs a uri" if self.engine == "milvus" else "takes no uri"
            raise ValueError(f"engine '{self.engine}' {wanted}")
