"""show, evolve, synth, translate and tables, and parts of a benchmark."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import subprocess
from html import escape
from pathlib import Path

import pytest
from conftest import NOW, Sample, program

import sqlgauge as sg
from sqlgauge import _show


@pytest.fixture(scope="module")
def run(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> sg.Run:
    """Two systems of the sample."""
    systems = {name: sample.file_of(name) for name in ("careful", "baseline")}
    out = tmp_path_factory.mktemp("run") / "run"
    return sg.score_many(sample.questions, db=sample.db, predictions=systems, metrics="ex,verify", out=out, now=NOW)


def wrong_ids(run: sg.Run, system: str) -> list[str]:
    return [item["id"] for item in run.items() if item["system"] == system and item["metrics"]["ex@1"] == 0.0]


def test_an_item_has_its_queries_rows_scores_and_reasons(run: sg.Run) -> None:
    wrong = wrong_ids(run, "baseline")[0]
    item = sg.show(run, wrong, "baseline")
    assert (item.id, item.system) == (wrong, "baseline")
    assert item.question
    assert item.gold
    assert item.prediction
    assert item.gold_result is not None
    assert len(item.gold_result["rows"][0]) == len(item.gold_result["columns"])
    assert item.scores["ex"].score == 0.0
    assert item.scores["ex"].reason
    html = item._repr_html_()
    assert "result of the gold" in html
    assert "ex@1" in html
    assert pickle.loads(pickle.dumps(item)).gold == item.gold


def test_a_refuted_item_has_the_tables_of_its_counterexample(run: sg.Run) -> None:
    verify = next(name for name in next(run.items())["metrics"] if name.startswith("verify"))
    refuted = next(item for item in run.items() if item["metrics"][verify] == 0.0)
    item = sg.show(run, refuted["id"], refuted["system"])
    tables = refuted["details"]["verdict"]["tables"]
    assert tables
    for table in tables:
        assert f"table {table['name']}" in item._repr_html_()


def test_an_item_prints_as_the_command_line_shows_it(run: sg.Run) -> None:
    wrong = wrong_ids(run, "baseline")[0]
    command = [program(), "show", run.path, "--id", wrong, "--system", "baseline"]
    # The width of a page of Python, which does not ask for that of a terminal.
    environment = {**os.environ, "COLUMNS": "120"}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert repr(sg.show(run.path, wrong, system="baseline")).split() == said.stdout.split()


def test_rows_that_the_run_kept_are_shown_where_the_database_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2)")
    row = {"id": "1", "db_id": "t", "gold": "SELECT a FROM t", "prediction": "SELECT 3"}
    run = sg.score_many([row], db=path, metrics="ex")
    assert sg.show(run, "1").notes == ()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO t VALUES (7)")
    item = sg.show(run, "1")
    assert item.gold_result is not None
    assert item.gold_result["rows"] == [[1], [2]]
    assert "has changed since the run" in item.notes[0]


def test_what_a_run_has_not_is_said(run: sg.Run) -> None:
    with pytest.raises(sg.InputError, match="no item 'nothing'|no item \"nothing\""):
        sg.show(run, "nothing", "careful")
    with pytest.raises(sg.InputError, match="choose one with system: careful, baseline"):
        sg.show(run, "bike-01")


def test_a_part_of_a_benchmark_is_scored(sample: Sample) -> None:
    careful = {"careful": sample.file_of("careful")}

    def scored(**part: object) -> list[str]:
        run = sg.score_many(sample.questions, db=sample.db, predictions=careful, metrics="ex", **part)  # type: ignore[arg-type]
        return [item["id"] for item in run.items()]

    bikes = [question["id"] for question in sample.questions if question["db_id"] == "bike_rental"]
    assert scored(db_id="bike_rental") == bikes
    assert scored(ids=["bike-03", "bike-01"]) == ["bike-01", "bike-03"]
    assert scored(limit=4, seed=1) == scored(limit=4, seed=1) != scored(limit=4, seed=2)
    hard = scored(where={"hardness": "hard"})
    assert 0 < len(hard) < len(scored(where={"hardness": ["hard", "extra"]})) < len(sample.questions)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"db_id": "nowhere"}, "no question has db_id \"nowhere\""),
        ({"ids": ["bike-99"]}, "no question has id \"bike-99\""),
        ({"limit": 0}, "limit 0 leaves no question"),
        ({"where": {"colour": "red"}}, "where: \"colour=red\" is not a condition; write difficulty or hardness"),
        ({"where": ["hardness=hard"]}, "where is of type list; give a mapping from label to value"),
        ({"db_id": "town_library", "ids": ["bike-01"]}, "no question fits db_id, ids and where at once"),
    ],
)
def test_a_part_that_is_none_is_said(part: dict[str, object], says: str, sample: Sample) -> None:
    with pytest.raises(sg.InputError) as caught:
        sg.score_many(sample.questions, db=sample.db, predictions={"a": sample.systems["careful"]}, **part)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_an_evolved_benchmark_is_scored_with_answers_to_the_original(sample: Sample, tmp_path: Path) -> None:
    original = sample.folder / "questions.json"
    seen: list[tuple[int, int]] = []
    evolved = sg.evolve(
        original, db=sample.db, out=tmp_path / "evolved", kinds=["rename-columns"], limit=6, seed=1,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert list(evolved) == ["rename-columns"]
    renamed = evolved["rename-columns"]
    assert renamed.written == len(json.loads(renamed.gold.read_text())) == 6
    assert renamed.golds_changed > 0
    assert seen
    assert "rename-columns" in repr(evolved)
    assert "<table>" in evolved._repr_html_()
    careful = {"careful": sample.file_of("careful")}
    run = sg.score_many(renamed.gold, db=renamed.db, predictions=careful, answers_to=original, metrics="ex")
    assert len(list(run.items())) == 6
    with pytest.raises(KeyError, match="was not made"):
        evolved["add-columns"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kinds": "rename"}, "kinds: "),
        ({"intensity": 2}, "intensity 2 is not above 0 and up to 1"),
        ({"naturalness": "high"}, "write regular, low or least"),
        ({"gold": "no golds here.json"}, "no golds here.json"),
        ({"script": "changes.jsonl", "steps": 2}, "script and steps exclude each other"),
        ({"columns": ["gold"]}, "columns is of type list; give a mapping"),
    ],
)
def test_evolve_says_what_does_not_fit(options: dict[str, object], says: str, sample: Sample, tmp_path: Path) -> None:
    arguments = {"gold": sample.folder / "questions.json", "db": sample.db, "out": tmp_path / "evolved", **options}
    with pytest.raises(sg.Error) as caught:
        sg.evolve(**arguments)  # type: ignore[arg-type]
    assert says in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_corpus_is_made_of_databases(sample: Sample, tmp_path: Path) -> None:
    corpus = sg.synth(sample.db, count=12, out=tmp_path / "corpus", seed=3, styles="formal", dialects="postgres")
    assert corpus.pairs == sum(corpus.tiers.values()) == 12
    assert corpus.databases == 2
    assert "12 pairs of 2 databases" in repr(corpus)
    assert (corpus.out / "README.md").is_file()
    with pytest.raises(sg.InputError, match="distractors 2 is not between 0 and 1"):
        sg.synth(sample.db, count=1, out=tmp_path / "other", distractors=2)
    with pytest.raises(sg.InputError, match="either db or tables"):
        sg.synth(count=1, out=tmp_path / "other")
    with pytest.raises(sg.InputError, match="is not a style of questions"):
        sg.synth(sample.db, count=1, out=tmp_path / "other", styles=["polite"])


def test_tables_take_the_options_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "csv").mkdir()
    rows = "".join(f"{at};1.{at}00;{'yes' if at % 2 else 'no'};0{at}/02/2024\n" for at in range(1, 6))
    (tmp_path / "csv" / "paid.csv").write_text(f"id;amount;paid;day\n{rows}")
    options = {"decimal_mark": "point", "date_order": "day-first", "booleans": True}
    built = sg.tables(tmp_path / "csv", out=tmp_path / "db", **options)  # type: ignore[arg-type]
    with sqlite3.connect(built.databases[0].path) as database:
        (row,) = database.execute("SELECT amount, paid, day FROM paid ORDER BY id LIMIT 1")
    assert row == (1.1, 1, "2024-02-01")
    (tmp_path / "csv" / "paid.csv").write_text("id;a\n1;2\n2;3\n3;4\n4\n")
    with pytest.raises(sg.InputError, match="paid.csv"):
        sg.tables(tmp_path / "csv", out=tmp_path / "strict", strict=True)


def test_tables_become_databases_that_queries_run_on(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "city.csv").write_text("id,name\n1,Rome\n2,Oslo\n3,Bern\n")
    (folder / "stub.csv").write_text("a\n")
    built = sg.tables(folder, out=tmp_path / "databases")
    (city,) = built.databases
    assert city.tables == {"city": 3}
    assert list(built.refused) == ["stub.csv"]
    assert "stub.csv" in built._repr_html_()
    assert sg.Database(city.path).tables == ["city"]
    with pytest.raises(sg.InputError, match="min_latin 2 is not between 0 and 1"):
        sg.tables(folder, out=tmp_path / "other", min_latin=2)


def test_rows_that_are_left_out_and_columns_to_look_at_are_shown(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    lines = ["id;amount;paid", "1;€ 1,5;yes", "2;€ 2,5;no", "2;€ 2,5;no", "3;€ 3,5;yes;more", "4;€ 4,5;no"]
    (folder / "paid.csv").write_text("\n".join(lines) + "\n")
    built = sg.tables(folder, out=tmp_path / "databases")
    for shown in (" ".join(repr(built).split()), built._repr_html_()):
        assert "rows that are left out" in shown and "too many values" in shown and "repeated" in shown
        assert "yes-no: yes, no" in shown and "€ is taken off its values" in shown
    kept = sg.tables(folder, out=tmp_path / "kept", keep_duplicates=True)
    assert "repeated" not in repr(kept)
    (folder / "paid.csv").write_text("id,name\n1,Rome\n2,Oslo\n3,Bern\n")
    clean = sg.tables(folder, out=tmp_path / "clean")
    assert "left out" not in repr(clean) and "columns to look at" not in repr(clean)


def test_a_query_is_translated_or_refused(sample: Sample, bikes: sg.Database) -> None:
    sql = "SELECT name FROM rider WHERE birth_year > 1990"
    said = sg.translate(sql, bikes, to=["postgres", "mysql"])
    assert list(said) == ["postgres", "mysql"]
    assert said["postgres"].sql is not None
    assert '"rider"' in said["postgres"].sql
    command = [program(), "translate", sql, "--db", sample.bikes, "--to", "postgres,mysql", "--json"]
    assert said.raw == json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    refused = sg.translate("SELECT group_concat(name) FROM rider", bikes, to="postgres")["postgres"]
    assert (refused.sql, refused.refused) == (None, "concatenation")
    assert "-- refused: concatenation" in repr(sg.translate("SELECT group_concat(name) FROM rider", bikes))
    tables = sg.translate(None, bikes, to="duckdb", ddl=True)["duckdb"].ddl
    assert len(tables) == len(bikes.tables)
    with pytest.raises(sg.InputError, match="unknown dialect \"french\""):
        sg.translate("SELECT 1", bikes, to="french")
    with pytest.raises(sg.QueryError, match="nowhere"):
        sg.translate("SELECT x FROM nowhere", bikes)
    with pytest.raises(sg.InputError, match="has no rows"):
        sg.translate("SELECT 1", sg.Schema.from_ddl("CREATE TABLE t (a)"))  # type: ignore[arg-type]


def test_a_run_prints_its_scores_in_percent_as_the_command_line_does(run: sg.Run) -> None:
    report = run.report("table").read_text()
    for system in run.summary()["systems"]:
        mean = f"{100 * system['scores']['ex@1']['mean']:.1f} ["
        assert mean in str(run) and mean in run._repr_html_() and mean in report
    assert "n: items" in str(run)


def test_the_metrics_that_are_no_shares_are_those_of_the_registry() -> None:
    said = subprocess.run([program(), "metrics", "--json"], check=True, capture_output=True, text=True)
    ratios = {one["id"].split("@")[0] for one in json.loads(said.stdout) if one["range"] == "0 and up"}
    assert ratios == _show.RATIOS
    score = {"mean": 1.5, "low": 1.25, "high": 1.75, "count": 3}
    assert _show.score("ves@1", score) == "1.50 [1.25, 1.75] n=3"
    assert _show.score("ex@1", {"mean": 0.5, "low": None, "high": None, "count": 1}) == "50.0 n=1"


def test_a_wrong_item_says_why_in_a_notebook_too(run: sg.Run) -> None:
    reasons = [sg.show(run, wrong, "baseline") for wrong in wrong_ids(run, "baseline")]
    said = next(item for item in reasons if item.why)
    assert said.why is not None
    assert f"<p>Why: {escape(said.why)}</p>" in said._repr_html_()
    assert " ".join(said.why.split()) in " ".join(repr(said).split())
    for score in said.scores.values():
        assert escape(score.reason or "") in said._repr_html_()


def test_a_p_value_is_never_0_and_one_is_singular() -> None:
    values = {0.00001: "< 0.001", 0.001: "0.001", 0.0496: "0.0496", 0.04999: "< 0.05", 0.5: "0.500"}
    assert {p: _show.p_value(p) for p in values} == values
    assert [_show.counted(n, "pair") for n in (0, 1, 2)] == ["0 pairs", "1 pair", "2 pairs"]
