"""What the package offers: every name that a user imports."""

from __future__ import annotations

from ._audit import Audit, AuditFinding, audit
from ._compare import Comparison, compare
from ._estimate import Estimate, Watch, estimate, monitor
from ._evolve import EvolvedBenchmark, EvolvedBenchmarks, evolve
from ._item import Item, show
from ._label import Labeler, LabelQuestion, LabelStatus
from ._match import Application, BrokenForeignKey, Match, NormalForm, match
from ._native import (
    Database,
    DatabaseError,
    Encoder,
    Error,
    InputError,
    InternalError,
    QueryError,
    RewardResult,
    RunError,
    Schema,
    ShiftReference,
    __version__,
)
from ._options import VerifyOptions
from ._reward import Reward
from ._runs import Run, load, merge
from ._score import Score, Scores, score, score_many
from ._synth import Corpus, synth
from ._tables import BuiltDatabase, BuiltDatabases, tables
from ._translate import Translation, Translations, translate
from ._verify import Verification, verify
from ._versions import Versions
from ._vote import Vote, vote

__all__ = [
    "Application",
    "Audit",
    "AuditFinding",
    "BrokenForeignKey",
    "BuiltDatabase",
    "BuiltDatabases",
    "Comparison",
    "Corpus",
    "Database",
    "DatabaseError",
    "Encoder",
    "Error",
    "Estimate",
    "EvolvedBenchmark",
    "EvolvedBenchmarks",
    "InputError",
    "InternalError",
    "Item",
    "LabelQuestion",
    "LabelStatus",
    "Labeler",
    "Match",
    "NormalForm",
    "QueryError",
    "Reward",
    "RewardResult",
    "Run",
    "RunError",
    "Schema",
    "Score",
    "Scores",
    "ShiftReference",
    "Translation",
    "Translations",
    "Verification",
    "VerifyOptions",
    "Versions",
    "Vote",
    "Watch",
    "__version__",
    "audit",
    "compare",
    "estimate",
    "evolve",
    "load",
    "match",
    "merge",
    "monitor",
    "score",
    "score_many",
    "show",
    "synth",
    "tables",
    "translate",
    "verify",
    "vote",
]
