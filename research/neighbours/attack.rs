//! Hostile texts as the role with the locks; after each the owner of the server looks for what it changed or left.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use sqlgauge_base::{Random, seed_of};
use sqlgauge_engine::{Database, Engine, Outcome, Value};

use crate::hostile::{self, DECOY, TEMPLATES};
use crate::law::short;
use crate::worlds::{Source, World};

/// What a text may take.
const LIMIT: Duration = Duration::from_secs(1);
/// How long the server may take to end and to forget what ran: its own check for a client that is gone included.
const SETTLES: Duration = Duration::from_secs(6);
/// What a hostile text writes to if it can.
const FILE: &str = "/tmp/sqlgauge-attack";

/// What the templates of one text did that they must not.
#[derive(Debug, Default)]
struct Breaches {
    /// Changed or left something.
    changed: usize,
    /// Returned other rows than the decoy's.
    answered: usize,
    /// One of them and what it did.
    example: Option<String>,
}

/// How an engine is looked at.
struct Inspection {
    texts: [&'static [&'static str]; 2],
    /// What the owner does first, when the engine is open.
    prepare: &'static str,
    /// The session of the role, by the role: what a query sees that an earlier one has left.
    session: &'static str,
    /// The server, by its owner; the last word is the number of queries of the role that run.
    server: &'static str,
    /// Ends them.
    end: &'static str,
}

const POSTGRESQL: Inspection = Inspection {
    texts: [hostile::POSTGRESQL, hostile::POSTGRESQL_ALONE],
    prepare: "CREATE FUNCTION left_behind() RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT concat_ws('; ', \
        'prepared: ' || (SELECT string_agg(name, ',') FROM pg_prepared_statements WHERE name <> ''), \
        'listens: ' || (SELECT string_agg(channel, ',') FROM pg_listening_channels() AS channel), \
        'cursors: ' || (SELECT string_agg(name, ',') FROM pg_cursors WHERE name !~ '^(<.*)?$'), \
        'advisory locks: ' || (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), \
        'temporary: ' || pg_my_temp_schema()::text, 'writes: ' || pg_current_xact_id_if_assigned()::text, \
        (SELECT string_agg(name || ' = ' || setting, ', ' ORDER BY name) FROM pg_settings \
         WHERE source NOT IN ('default', 'override', 'configuration file', 'command line', 'environment variable'))) $$; \
        GRANT EXECUTE ON FUNCTION left_behind() TO sqlgauge",
    session: "SELECT left_behind()",
    server: "SELECT concat_ws(' ', \
        'rows', (SELECT md5(string_agg(t::text, ',' ORDER BY id)) FROM items t), \
        'relations', (SELECT count(*) FROM pg_class), 'functions', (SELECT count(*) FROM pg_proc), \
        'schemas', (SELECT count(*) FROM pg_namespace), 'comments', (SELECT count(*) FROM pg_description), \
        'large objects', (SELECT count(*) FROM pg_largeobject_metadata), \
        'extensions', (SELECT count(*) FROM pg_extension), 'prepared', (SELECT count(*) FROM pg_prepared_xacts), \
        'roles', (SELECT md5(string_agg(r::text, ',' ORDER BY oid)) FROM pg_authid r), \
        'role settings', (SELECT md5(string_agg(s::text, ',' ORDER BY s::text)) FROM pg_db_role_setting s), \
        'privileges', (SELECT md5(string_agg(relacl::text, ',' ORDER BY oid)) FROM pg_class WHERE oid >= 16384), \
        'settings', (SELECT md5(string_agg(name || setting, ',' ORDER BY name)) FROM pg_settings), \
        'advisory locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), \
        'strong locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode <> 'AccessShareLock' \
         AND pid <> pg_backend_pid() AND pid IN (SELECT pid FROM pg_stat_activity WHERE usename = 'sqlgauge')), \
        'running', (SELECT count(*) FROM pg_stat_activity WHERE usename = 'sqlgauge' AND state = 'active'))",
    end: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sqlgauge' AND state = 'active'",
};

const MARIADB: Inspection = Inspection {
    texts: [hostile::MARIADB, hostile::MARIADB_ALONE],
    prepare: "SELECT 1",
    session: "SELECT CONCAT_WS('; ', @a, @@sql_mode, @@max_statement_time, @@autocommit, @@tx_read_only, @@tx_isolation, \
        @@time_zone, @@sql_select_limit, @@foreign_key_checks, @@character_set_client, @@group_concat_max_len, DATABASE(), \
        LAST_INSERT_ID(), @@in_transaction)",
    server: "SELECT CONCAT_WS(' ', \
        'rows', (SELECT MD5(GROUP_CONCAT(id, name, price ORDER BY id)) FROM items), \
        'tables', (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA <> 'information_schema'), \
        'routines', (SELECT COUNT(*) FROM information_schema.ROUTINES), \
        'accounts', (SELECT MD5(GROUP_CONCAT(Host, User, Priv ORDER BY Host, User)) FROM mysql.global_priv), \
        'grants', (SELECT MD5(GROUP_CONCAT(Host, Db, User, Select_priv, Insert_priv ORDER BY Host, Db, User)) FROM mysql.db), \
        'variables', (SELECT MD5(GROUP_CONCAT(VARIABLE_NAME, VARIABLE_VALUE ORDER BY VARIABLE_NAME)) \
         FROM information_schema.GLOBAL_VARIABLES), \
        'prepared', (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'PREPARED_STMT_COUNT'), \
        'plugins', (SELECT COUNT(*) FROM information_schema.PLUGINS), \
        'lock', IFNULL(IS_USED_LOCK('sqlgauge'), 'none'), \
        'running', (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'sqlgauge' \
         AND COMMAND NOT IN ('Sleep', 'Reset Connection')))",
    end: "SELECT 1",
};

/// Runs the texts on an engine of a server, prints a line, and returns the number of those that changed or returned something.
pub(crate) fn run(world: &World, (most, seed): (usize, u64), part: &str) -> Result<usize> {
    let inspection = match world.source {
        Source::PostgreSql(_) => POSTGRESQL,
        Source::MariaDb(_) => MARIADB,
        Source::Folder { .. } => return Ok(0),
    };
    let texts = inspection.texts.iter().copied().flatten().filter(|text| text.contains(part));
    let all: Vec<(&str, &str)> =
        texts.flat_map(|text| TEMPLATES.iter().map(|template| (*template, *text))).collect();
    let places = Random::new([seed, seed_of(world.name), 1]).distinct(most, all.len());
    let started = Instant::now();
    let mut attack = Attack::begin(world, &inspection)?;
    let mut breaches: BTreeMap<&str, Breaches> = BTreeMap::new();
    for place in &places {
        let (template, text) = all[*place];
        let sql = template.replace("{}", text);
        let outcome = attack.engine.run(&attack.database, &sql).outcome;
        let is_answered =
            outcome.rows().is_some() && !is_decoy(&outcome) && !hostile::MAY_ANSWER.contains(&text);
        let change = attack.change();
        if !is_answered && change.is_none() {
            continue;
        }
        let of_text = breaches.entry(text).or_default();
        of_text.answered += usize::from(is_answered);
        of_text.changed += usize::from(change.is_some());
        if of_text.example.is_none() || of_text.changed == 1 && change.is_some() {
            let change = change.as_deref().unwrap_or("nothing changed");
            of_text.example = Some(format!("{}: {}: {change}", short(&sql), outcome.status()));
        }
        if change.is_some() {
            // What it left must not count for the next.
            drop(attack);
            attack = Attack::begin(world, &inspection)?;
        }
    }
    for Breaches { changed, answered, example } in breaches.values() {
        println!("  {changed} changed, {answered} answered: {}", example.as_deref().unwrap_or_default());
    }
    let sum = |of: fn(&Breaches) -> usize| breaches.values().map(of).sum::<usize>();
    let (changed, answered) = (sum(|one| one.changed), sum(|one| one.answered));
    let has_file = Path::new(FILE).exists();
    if has_file {
        println!("  a text wrote {FILE}: remove it");
    }
    println!(
        "{}, attack: {} texts, {changed} changed or left something, {answered} returned rows, {:.0} s",
        world.name,
        places.len(),
        started.elapsed().as_secs_f64()
    );
    Ok(changed + answered + usize::from(has_file))
}

/// Whether the rows are those of the harmless query around the text.
fn is_decoy(outcome: &Outcome) -> bool {
    let cells = outcome.rows().map(|rows| rows.values()).unwrap_or_default();
    !cells.is_empty() && cells.iter().all(|cell| *cell == Value::Integer(DECOY))
}

/// An engine with one connection, and what the server was before the first text.
struct Attack<'a> {
    world: &'a World,
    inspection: &'a Inspection,
    engine: Arc<dyn Engine>,
    database: Arc<Database>,
    session: String,
    server: String,
}

impl<'a> Attack<'a> {
    fn begin(world: &'a World, inspection: &'a Inspection) -> Result<Self> {
        if matches!(world.source, Source::PostgreSql(_)) {
            // A function of the owner has the engine clean more: it comes when the engine is open.
            let _none = world.owner("DROP FUNCTION IF EXISTS left_behind()");
        }
        let engine = world.engine(LIMIT, 1)?;
        let database = engine.open(&world.path)?;
        let _ready = world.owner(inspection.prepare);
        let mut attack =
            Self { world, inspection, engine, database, session: String::new(), server: String::new() };
        attack.session = attack.session();
        // The role's first query has ended when the owner sees none run.
        let deadline = Instant::now() + SETTLES;
        attack.server = attack.server();
        while !attack.server.ends_with(" running 0") && Instant::now() < deadline {
            attack.server = attack.server();
        }
        Ok(attack)
    }

    /// What the next query of the connection sees.
    fn session(&self) -> String {
        let outcome = self.engine.run(&self.database, self.inspection.session).outcome;
        let cell = outcome.rows().and_then(|rows| rows.values().first()?.as_str().map(str::to_owned));
        cell.unwrap_or_else(|| format!("{:?}", outcome.failure()))
    }

    fn server(&self) -> String {
        self.world.owner(self.inspection.server).unwrap_or_default()
    }

    /// What is not as it was, in words; looks again until the server has had its time.
    fn change(&self) -> Option<String> {
        let session = self.session();
        if session != self.session {
            return Some(format!("the next query sees {}", difference(&self.session, &session)));
        }
        let deadline = Instant::now() + SETTLES;
        loop {
            let server = self.server();
            if server == self.server {
                return None;
            }
            if Instant::now() > deadline {
                let _ended = self.world.owner(self.inspection.end);
                return Some(format!("the server has {}", difference(&self.server, &server)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The words of the second text from the first that differs.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.split(' ').collect(), after.split(' ').collect());
    let same = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    short(&after[same.saturating_sub(1)..].join(" "))
}
