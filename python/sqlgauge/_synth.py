"""A labelled corpus from databases: ``sqlgauge synth``."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import _native, _show
from ._help import documented
from ._options import listed
from ._progress import shown

__all__ = ["Corpus", "synth"]


@documented
@dataclass(frozen=True, repr=False)
class Corpus(_show.Shown):
    """Questions with their SQL that were made from databases; each query was run."""

    out: Path
    """The folder: its README.md says what is in it."""
    pairs: int
    tiers: dict[str, int]
    """Pairs by difficulty."""
    unmet: dict[str, int]
    """Pairs that no database could give, by difficulty."""
    databases: int
    left_out: tuple[str, ...]
    """Databases and tables that nothing was made of, and why."""
    notes: tuple[str, ...]
    """What was noticed, in sentences."""

    def _sentences(self) -> list[str]:
        return [f"{_show.counted(self.pairs, 'pair')} of {_show.counted(self.databases, 'database')} in {self.out}", *self.left_out, *self.notes]

    def _tables(self) -> list[_show.Table]:
        rows = [(tier, count, self.unmet[tier]) for tier, count in self.tiers.items()]
        return [_show.Table("pairs by difficulty", ["tier", "pairs", "could not be made"], rows)]


def synth(
    db: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    *,
    count: int,
    out: str | os.PathLike[str],
    tables: str | os.PathLike[str] | None = None,
    tiers: tuple[int, int, int, int] = (30, 35, 25, 10),
    each: int = 0,
    styles: str | Sequence[str] = "all",
    dialects: str | Sequence[str] = (),
    distractors: float = 0.0,
    ask_again: float = 0.0,
    variants: float = 0.0,
    near_misses: float = 0.0,
    schema_versions: int = 0,
    kinds: str | Sequence[str] = "all",
    sampler: str | None = None,
    budget: float | None = None,
    seed: int = 0,
    jobs: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Corpus:
    """Makes a labelled corpus from databases: queries by a grammar, each checked by execution, with their questions.

    After Ctrl-C the call ends at once, but the work goes on in its thread until the process ends or it is done. The same call
    goes on with a corpus that was broken off.

    Args:
        db: Folder with ``DB_ID/DB_ID.sqlite``, or one database file, or several of them.
        count: Pairs to make.
        out: Folder to write.
        tables: Folder of CSV and Parquet files, to make databases from first, in the place of ``db``.
        tiers: Percentages of simple, moderate, complex and highly complex queries.
        each: How often every column and every foreign key is used at least; 0 as it comes.
        styles: Styles of the questions, in a list or separated by commas, or ``all``; an empty list for queries alone.
        dialects: Other dialects that the queries are written in too.
        distractors: Share of questions with a sentence about a column that the query does not use, or an adjective that says
            nothing, from 0 to 1.
        ask_again: Share of queries that are asked a second time, in another style, as pairs of their own, from 0 to 1.
        variants: Share of pairs with a variant beside them, which rules prove equal, from 0 to 1.
        near_misses: Share of pairs with a near miss beside them, with a database that tells the two apart, from 0 to 1.
        schema_versions: Later schemas of each database, over which pairs are made too.
        kinds: Kinds of change that these are drawn from, as for :func:`evolve`.
        sampler: How the next column is chosen: ``schema-distance`` or ``uniform``.
        budget: The most that may be spent by the costs of FusionSQL's equation 16, in dollars.
        seed: Seed of everything: the same seed gives the same corpus.
        jobs: Worker threads; 0 means one per core.
        progress: As for :func:`score_many`; it counts pairs.

    Raises:
        InputError: An option is out of range, or there are no databases.
        RunError: The folder holds something else, or cannot be written.
    """
    roots = [db] if isinstance(db, (str, os.PathLike)) else list(db)
    if bool(roots) == (tables is not None):
        raise _native.InputError("synth needs either db or tables: give databases, or a folder of CSV and Parquet files")
    job = {
        "db": roots,
        "tables": tables,
        "pairs": count,
        "out": out,
        "seed": seed,
        "schema_versions": schema_versions,
        "kinds": listed(kinds),
        "tiers": list(tiers),
        "each": each,
        "styles": None if styles == "all" else listed(styles),
        "dialects": listed(dialects),
        "distractors": float(distractors),
        "ask_again": float(ask_again),
        "variants": float(variants),
        "near_misses": float(near_misses),
        "sampler": sampler,
        "budget": budget,
        "jobs": jobs,
    }
    with shown(progress) as show:
        said = _native.make_corpus(job, show)
    return Corpus(
        out=Path(out),
        pairs=said["pairs"],
        tiers=said["tiers"],
        unmet=said["unmet"],
        databases=said["databases"],
        left_out=tuple(said["left_out"]),
        notes=tuple(said["notes"]),
    )
