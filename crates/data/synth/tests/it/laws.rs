//! What holds for every query that the grammar makes, over databases that are made here.

use std::path::{Path, PathBuf};

use sqlgauge_base::Random;
use sqlgauge_engine::{Engine, Limits, SqliteEngine};
use sqlgauge_etm::law::Stepper;
use sqlgauge_sql::{PrintDialect, print, resolve};
use sqlgauge_synth::check::{Checker, RejectionReason};
use sqlgauge_synth::grammar::Grammar;
use sqlgauge_synth::sampler::SAMPLERS;
use sqlgauge_synth::shape::QueryMeasures;
use sqlgauge_synth::{
    Caps, CorpusSource, CorpusSummary, GrammarDatabase, QueryRelation, Shares, SynthOptions, SynthPair, Tier,
    TierShares, Wish, sources, synthesize,
};

const MUSIC: &str = "
    CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL, population INTEGER);
    CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, age INTEGER, genre TEXT, born TEXT,
        country_code TEXT REFERENCES country(code));
    CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, singer_id INTEGER REFERENCES singer(singer_id),
        attendance INTEGER, price REAL, held TEXT);
    INSERT INTO country VALUES ('FR', 'France', 67), ('DE', 'Germany', 83), ('NL', 'Netherlands', 17), ('US', 'United States', 330);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 24)
    INSERT INTO singer SELECT i, 'Singer ' || char(64 + i) || ' Smith', 20 + i * 7 % 41, CASE i % 3 WHEN 0 THEN 'Rock' WHEN 1
        THEN 'Pop' ELSE 'Jazz' END, date('1950-01-01', (i * 397) || ' days'), CASE i % 4 WHEN 0 THEN 'FR' WHEN 1 THEN 'DE'
        WHEN 2 THEN 'NL' END FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO concert SELECT i, 'Night ' || i, 1 + i * 5 % 22, i * 37 % 900, i * 1.5, date('2010-01-01', (i * 31) || ' days') FROM n;
";

/// Names with blanks, quotes and letters beyond ASCII, a view, no keys, an empty table.
const ODD: &str = "
    CREATE TABLE \"order\" (\"select\" INTEGER PRIMARY KEY, \"größe in cm\" REAL, \"a \"\"b\"\"\" TEXT, [group] TEXT);
    CREATE TABLE empty (a, b);
    CREATE TABLE plain (x INTEGER, y TEXT);
    CREATE VIEW \"the view\" AS SELECT \"select\" AS id, [group] FROM \"order\";
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
    INSERT INTO \"order\" SELECT i, i * 1.5, 'it''s \"' || i || '\"', 'g' || (i % 4) FROM n;
    INSERT INTO plain VALUES (1, 'one'), (2, 'two'), (3, NULL);
";

fn database(folder: &Path, name: &str, script: &str) -> PathBuf {
    let path = folder.join(format!("{name}.sqlite"));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(script).unwrap();
    path
}

/// Databases of those scripts, in a folder of their own.
fn databases(folder: &Path, scripts: &[(&str, &str)]) -> Vec<CorpusSource> {
    let input = folder.join("in");
    std::fs::create_dir(&input).unwrap();
    for (name, script) in scripts {
        database(&input, name, script);
    }
    sources(&[input]).unwrap()
}

fn music_and_odd(folder: &Path) -> Vec<CorpusSource> {
    databases(folder, &[("music", MUSIC), ("odd", ODD)])
}

fn engine() -> SqliteEngine {
    SqliteEngine::new(Limits { max_vm_steps: 1_000_000, max_rows: 20_000, ..Limits::default() })
}

fn options(pairs: u64) -> SynthOptions {
    SynthOptions {
        pairs,
        seed: 7,
        beside: Shares { variants: 0.3, near_misses: 0.2 },
        pairs_per_file: 1000,
        tool_version: "test".to_owned(),
        ..SynthOptions::default()
    }
}

fn corpus(sources: &[CorpusSource], options: &SynthOptions, out: &Path, threads: usize) -> CorpusSummary {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let engine = engine();
    pool.install(|| synthesize(sources, &engine, options, out.to_owned(), &|_, _| {})).unwrap()
}

/// All files of a folder with their bytes, but for the lock.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if !path.ends_with("synth.lock") {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_query_that_is_made_prints_and_resolves_to_the_same_tree() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine();
    for (name, script) in [("music", MUSIC), ("odd", ODD)] {
        let opened = engine.open(&database(folder.path(), name, script)).unwrap();
        let world = GrammarDatabase::read(name, &opened, &engine);
        let checker = Checker::new(&world.schema, &opened, &engine);
        let (mut queries, mut pairs, mut dropped) =
            (0, 0, std::collections::BTreeMap::<RejectionReason, Vec<String>>::new());
        for place in 0..1500 {
            let mut random = Random::new([1, place]);
            let wish = Wish::at(place, TierShares::default(), &mut random);
            let Some(query) = Grammar::new(&world, &SAMPLERS[0], wish, random.clone()).query() else {
                continue;
            };
            queries += 1;
            let tree = Stepper::start(&query);
            let text = print(&tree, &world.schema, PrintDialect::Sqlite)
                .unwrap_or_else(|error| panic!("{error}: {tree:?}"));
            let again = resolve(&text, &world.schema).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(Stepper::start(&again), tree, "{text}");
            match checker.check(&query, &mut random) {
                Ok(checked_query) => {
                    pairs += 1;
                    let shapes = [
                        QueryMeasures::of(&query, &world.schema),
                        QueryMeasures::of(&checked_query.query, &world.schema),
                    ];
                    assert_eq!(Tier::of(&shapes[0]), Tier::of(&shapes[1]), "{text}");
                    assert!(!checked_query.rows.is_empty());
                }
                Err(reason) => dropped.entry(reason).or_default().push(text),
            }
        }
        for reason in [
            RejectionReason::Unprintable,
            RejectionReason::Unresolved,
            RejectionReason::OtherTree,
            RejectionReason::Fails,
        ] {
            assert!(!dropped.contains_key(&reason), "{reason:?}: {}", dropped[&reason].join("\n"));
        }
        let counts: Vec<_> = dropped.iter().map(|(reason, texts)| (reason, texts.len())).collect();
        println!("{name}: {queries} made, {pairs} kept, {counts:?}");
        assert!(pairs * 2 > queries, "{name}: {pairs} of {queries} kept, {counts:?}");
    }
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_corpus_follows_from_its_seed_whatever_the_threads_and_goes_on_where_it_was_ended() {
    let folder = tempfile::tempdir().unwrap();
    let sources = music_and_odd(folder.path());
    let at = |name: &str| folder.path().join(name);
    let summary = corpus(&sources, &options(400), &at("one"), 1);
    assert_eq!(summary.tally.pairs + summary.unmet.iter().sum::<u64>(), 400, "{summary:?}");
    let related = |relation| summary.tally.related.get(&relation).copied().unwrap_or(0);
    assert!(related(QueryRelation::Variant) > 20 && related(QueryRelation::NearMiss) > 20, "{summary:?}");
    assert_eq!(summary.tally.contradictions, []);
    corpus(&sources, &options(400), &at("two"), 2);
    assert!(files(&at("one")) == files(&at("two")));
    corpus(&sources, &SynthOptions { seed: 8, ..options(400) }, &at("other"), 2);
    assert!(files(&at("one")) != files(&at("other")));

    // As it is left by a process that ended after the first database.
    let refused = corpus_until_first(&sources, &at("resumed"));
    assert!(refused);
    assert!(at("resumed/units/music.json").exists() && !at("resumed/data").exists());
    corpus(&sources, &options(400), &at("resumed"), 2);
    assert!(files(&at("one")) == files(&at("resumed")));

    // Done is done; other options are not mixed with it.
    let again = corpus(&sources, &options(400), &at("one"), 1);
    assert_eq!(again.tally, summary.tally);
    let other =
        synthesize(&sources, &engine(), &options(401), at("one"), &|_, _| {}).unwrap_err().to_string();
    assert!(other.contains("a corpus of other options"), "{other}");
}

/// Makes the first database and panics before the second.
fn corpus_until_first(sources: &[CorpusSource], out: &Path) -> bool {
    let stop = |_, _| panic!("ended");
    let engine = engine();
    let run =
        std::panic::AssertUnwindSafe(|| synthesize(sources, &engine, &options(400), out.to_owned(), &stop));
    std::panic::catch_unwind(run).is_err()
}

#[test]
fn every_column_and_link_is_used_as_often_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "music", MUSIC);
    let summary = corpus(
        &sources(&[path]).unwrap(),
        &SynthOptions { each: 3, ..options(120) },
        &folder.path().join("out"),
        2,
    );
    let uses = &summary.tally.columns;
    for column in [
        "country.code",
        "country.population",
        "singer.born",
        "singer.country_code",
        "concert.price",
        "concert.held",
    ] {
        assert!(uses.get(column).is_some_and(|&count| count >= 3), "{column}: {uses:?}");
    }
    assert_eq!(uses.len(), 15, "{uses:?}");
    let few = SynthOptions { each: 3, ..options(20) };
    let path = folder.path().join("music.sqlite");
    let error =
        synthesize(&sources(&[path]).unwrap(), &engine(), &few, folder.path().join("few"), &|_, _| {});
    let error = error.unwrap_err().to_string();
    assert!(error.contains("takes 51 pairs"), "{error}");
}

#[test]
fn caps_of_a_database_and_the_budget_are_never_passed() {
    let folder = tempfile::tempdir().unwrap();
    let sources = music_and_odd(folder.path());
    let at = |name: &str| folder.path().join(name);
    // Those of the paper, for each of two databases.
    let capped =
        SynthOptions { caps: Caps { cost: None, made: Some(160), executed: Some(40) }, ..options(400) };
    let summary = corpus(&sources, &capped, &at("one"), 1);
    let spent = summary.tally.spending;
    assert!(spent.queries <= 2 * 160 && spent.executed <= 2 * 40, "{spent:?}");
    assert!(summary.tally.pairs > 20, "{summary:?}");
    assert_eq!(summary.tally.pairs + summary.unmet.iter().sum::<u64>(), 400);
    corpus(&sources, &capped, &at("two"), 2);
    assert!(files(&at("one")) == files(&at("two")));

    let budget = SynthOptions { caps: Caps { cost: Some(0.05), ..Caps::default() }, ..options(400) };
    let summary = corpus(&sources, &budget, &at("budget"), 2);
    assert!(summary.tally.spending.cost() <= 0.05, "{:?}", summary.tally.spending);
    assert!(summary.tally.pairs > 20, "{summary:?}");
}

#[test]
fn a_database_without_rows_leaves_its_pairs_to_the_others() {
    const EMPTY: &str = "CREATE TABLE t (a, b);";
    let folder = tempfile::tempdir().unwrap();
    let scripts = [("a_empty", EMPTY), ("music", MUSIC), ("z_empty", EMPTY)];
    let summary = corpus(&databases(folder.path(), &scripts), &options(60), &folder.path().join("out"), 2);
    assert_eq!((summary.tally.pairs, summary.unmet), (60, [0; 4]));
    assert_eq!(summary.left_out, ["a_empty.t: it has no rows", "z_empty.t: it has no rows"]);
}

/// What takes much SQL and few words is asked for in a corpus, in these words.
#[test]
#[ignore = "long: cargo xtask long"]
fn every_idiom_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "{MUSIC} CREATE TABLE award (award_id INTEGER PRIMARY KEY, title TEXT, prize INTEGER);
         CREATE TABLE given (award_id INT REFERENCES award(award_id), singer_id INT REFERENCES singer(singer_id), PRIMARY KEY (award_id, singer_id));
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
             INSERT INTO award SELECT i, 'Award ' || i, i * 500 FROM n;
         INSERT INTO given SELECT DISTINCT 1 + singer_id * 7 % 12, singer_id FROM singer;
         UPDATE singer SET genre = 'Rock' WHERE singer_id < 8"
    );
    let sources = databases(folder.path(), &[("music", &script)]);
    let out = folder.path().join("out");
    corpus(&sources, &options(600), &out, 2);
    let written = std::fs::read_to_string(out.join("data/train-00000-of-00001.jsonl")).unwrap();
    for phrase in [
        "What percentage of",
        "How many more ",
        " that have at least ",
        " that has the most ",
        " with the highest average ",
        " of concerts by the ",
        " singers that have ",
        "overall average",
    ] {
        assert!(written.contains(phrase), "{phrase}");
    }
}

/// What a reader may take otherwise is not drawn in the first three tiers: rows that a join repeats under LIMIT, and rows without a partner
/// that are counted.
#[test]
fn what_could_be_read_otherwise_is_not_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    corpus(&databases(folder.path(), &[("music", MUSIC)]), &options(600), &out, 2);
    let written = std::fs::read_to_string(out.join("data/train-00000-of-00001.jsonl")).unwrap();
    let mut limited = 0;
    for line in written.lines() {
        let pair: SynthPair = serde_json::from_str(line).unwrap();
        let has = |operator: &str| pair.operators.iter().any(|name| name == operator);
        let is_brief = pair.tier != Tier::HighlyComplex;
        let is_plain =
            pair.depth == 1 && !has("group_by") && !has("union") && !has("except") && !has("intersect");
        limited += usize::from(has("limit") && has("inner_join"));
        assert!(!(is_brief && is_plain && has("limit") && has("inner_join")), "{}", pair.sql);
        let is_outer = has("left_join") || has("full_join");
        assert!(!(is_brief && pair.depth == 1 && is_outer && pair.sql.contains("count(*)")), "{}", pair.sql);
    }
    assert!(limited > 0);
}
