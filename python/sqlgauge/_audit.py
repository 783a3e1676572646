"""What is wrong with the golds of a benchmark: ``sqlgauge audit``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _native, _show
from ._frames import rows_of
from ._help import documented
from ._options import limits, listed, mapping
from ._progress import shown
from ._score import Frame, given_systems
from ._subset import subset

__all__ = ["Audit", "AuditFinding", "audit"]


@documented
@dataclass(frozen=True, repr=False)
class AuditFinding(_show.Shown):
    """A defect of a gold."""

    id: str
    """The question's id."""
    db_id: str
    question: str | None
    gold: str
    """The gold query."""
    rule: str
    """Name of the rule; ``sqlgauge rules NAME`` explains it."""
    standing: str
    """How much the rule's findings say: ``certain``, ``likely`` or ``hint``."""
    why: str
    """One sentence."""
    evidence: dict[str, Any] | None
    """The rows that show it: ``title``, ``columns``, ``rows``, ``left_out``."""
    rewrite: str | None
    """A proposed query without the defect."""
    verdict: str | None
    """What ``verify`` says of gold and proposal."""
    confidence: float
    """How probable it is that the gold is wrong, by all its findings: from 0 to 1."""

    def _sentences(self) -> list[str]:
        said = [f"{self.id} ({self.db_id}): {self.question or ''}", self.gold, f"{self.rule} ({self.standing}): {self.why}"]
        return [*said, f"proposal ({self.verdict or 'not verified'}): {self.rewrite}"] if self.rewrite else said

    def _tables(self) -> list[_show.Table]:
        return [_show.result(self.evidence["title"], self.evidence)] if self.evidence else []


@documented
@dataclass(frozen=True, repr=False)
class Audit(_show.Shown, Sequence[AuditFinding]):
    """The findings of :func:`audit`, those that a person should look at first ahead."""

    findings: tuple[AuditFinding, ...]
    items: list[dict[str, Any]] = field(repr=False)
    """Every gold, as ``sqlgauge audit --output-format jsonl`` writes it: also what was allowed and what could not be checked."""
    counts: list[dict[str, Any]] = field(repr=False)
    """For each rule: ``golds`` with a finding, ``allowed`` ones, and golds that it could not check (``unchecked``)."""
    notes: tuple[str, ...] = ()
    """What reading noticed."""

    def __getitem__(self, at: Any) -> Any:
        return self.findings[at]

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[AuditFinding]:
        return iter(self.findings)

    def _sentences(self) -> list[str]:
        golds = {(one["index"], one["gold"]) for one in self.items if one["findings"]}
        have = "has" if len(golds) == 1 else "have"
        return [f"{len(golds)} of {_show.counted(len(self.items), 'gold')} {have} a finding"]

    def _tables(self) -> list[_show.Table]:
        counted = [(one["rule"], one["golds"], one["allowed"], one["unchecked"]) for one in self.counts]
        rules = _show.Table("rules", ["rule", "reported", "allowed by you", "could not check"], counted, whole=True)
        found = [(one.id, f"{one.confidence:.0%}", one.rule, one.why) for one in self.findings]
        return [rules, _show.Table("findings", ["id", "confidence", "rule", "why"], found)]


def audit(
    frame: Frame | str | os.PathLike[str],
    *,
    db: str | os.PathLike[str],
    predictions: Mapping[str, Any] | str | None = None,
    rules: str | Sequence[str] = "default",
    allow: str | os.PathLike[str] | None = None,
    verify: bool = True,
    columns: Mapping[str, str] | None = None,
    questions: str | os.PathLike[str] | None = None,
    db_id: str | Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    limit: int | None = None,
    seed: int = 0,
    timeout: float | None = None,
    max_rows: int | None = None,
    max_bytes: int | None = None,
    max_heap: int | None = None,
    now: str | None = None,
    jobs: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Audit:
    """Finds golds that may be wrong: rules over query, schema, rows and question.

    Args:
        frame: The benchmark, as :func:`score_many` takes it.
        db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file.
        predictions: Answers of systems, as :func:`score_many` takes them; where several agree and not with the gold, that is
            a finding.
        rules: Names of rules, ``default`` or ``all``, in a list or separated by commas; ``-NAME`` takes one away.
        allow: File of findings that are allowed: JSON lines of ``id``, ``rule`` and ``reason``.
        verify: Whether proposed rewrites are verified.
        columns: Columns by role, where the frame has other names.
        questions: File with the questions, where the golds are a file that has none.
        db_id: Take only the questions about this database, or these.
        ids: Take only the questions with these ids.
        where: Take only the questions with these labels, as in ``{"hardness": "extra"}``.
        limit: Take at most this many questions, drawn at random.
        seed: Seed of that draw.
        timeout: Seconds that one query may take; 30 without it.
        max_rows: Rows that one result may have.
        max_bytes: Bytes that one result may have.
        max_heap: Bytes of memory that SQLite may use for one query.
        now: Date, or date and time of UTC, that queries take for now.
        jobs: Worker threads; 0 means one per core.
        progress: Whether to show a bar of tqdm, or a function that is called with the items done and all items.

    Raises:
        InputError: The frame, a rule or an option is not what it should be, or an allowed finding has no reason.
        DatabaseError: A database cannot be used.
    """
    rows = rows_of(frame)
    job = {
        "frame": rows,
        "predictions": [] if predictions is None else given_systems("predictions", predictions, rows),
        "db": db,
        "columns": mapping("columns", columns, "{'gold': 'query'}"),
        "questions": questions,
        "rules": listed(rules),
        "allow": allow,
        "verify": verify,
        "subset": subset(db_id, ids, where, limit, seed),
        "limits": limits(timeout, max_rows, max_bytes, max_heap, now),
        "jobs": jobs,
    }
    with shown(progress) as show:
        said = _native.audit_golds(job, show)
    by_place = {(item["index"], item["gold"]): item for item in said["items"]}
    ranked = (by_place[tuple(place)] for place in said["ranked"])
    findings = tuple(_finding(item, own) for item in ranked for own in item["findings"])
    return Audit(findings, said["items"], said["counts"], tuple(said["notes"]))


def _finding(item: dict[str, Any], own: dict[str, Any]) -> AuditFinding:
    rewrite = own.get("rewrite") or {}
    return AuditFinding(
        id=item["id"],
        db_id=item["db_id"],
        question=item.get("question"),
        gold=item["sql"],
        rule=own["rule"],
        standing=own["standing"],
        why=own["why"],
        evidence=own.get("evidence"),
        rewrite=rewrite.get("sql"),
        verdict=rewrite.get("verdict"),
        confidence=item["confidence"],
    )
