//! The order of rows that a gold asks for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ResultSet;
use sqlgauge_sql::schema::Schema;
use sqlgauge_sql::tree::Query;
use sqlgauge_sql::{PrintDialect, UnderDistinct, ordered, ordered_under_distinct, print};

use crate::compare::pyeq::Interner;
use crate::compare::rows::{GoldOrder, runs_of_keys};

impl GoldOrder {
    /// The order that a gold asks for, given its rows. `run` returns the rows of a text on the gold's database: sort keys
    /// that the gold does not return are fetched by running it with those keys as further columns.
    pub fn of(
        gold: &ResultSet,
        query: &Query,
        schema: &Schema,
        run: impl Fn(&str) -> Option<Arc<ResultSet>>,
    ) -> Self {
        if let Some(under) = ordered_under_distinct(query) {
            return match runs_under_distinct(gold, schema, &run, &under) {
                Ok(runs) => Self::Runs(runs),
                Err(why) => match ordered(query) {
                    Some(ordered) => Self::Partly(runs_of_keys(gold, &ordered.keys), why),
                    None => Self::Unknown(why),
                },
            };
        }
        let Some(ordered) = ordered(query) else { return Self::Unordered };
        if ordered.keys.iter().all(|&key| key < ordered.width) {
            return Self::from_keys(gold, &ordered.keys);
        }
        let sql = match print(&ordered.query, schema, PrintDialect::Sqlite) {
            Ok(sql) => sql,
            Err(error) => return Self::Unknown(format!("the gold's sort keys cannot be added: {error}")),
        };
        match run(&sql) {
            Some(rows) if has_same_rows(gold, &rows) => Self::from_keys(&rows, &ordered.keys),
            Some(_) => Self::Unknown("the gold returns other rows when its sort keys are added".into()),
            None => Self::Unknown("the gold does not run with its sort keys added".into()),
        }
    }
}

/// The runs of equal sort keys of a gold with DISTINCT whose keys it does not return, or why there are none.
fn runs_under_distinct(
    gold: &ResultSet,
    schema: &Schema,
    run: impl Fn(&str) -> Option<Arc<ResultSet>>,
    under: &UnderDistinct,
) -> Result<Vec<usize>, String> {
    let run = |query| {
        let sql = print(query, schema, PrintDialect::Sqlite)
            .map_err(|error| format!("the gold's sort keys cannot be added: {error}"))?;
        Ok::<_, String>(run(&sql))
    };
    let (Some(every), Some(all)) = (run(&under.every)?, run(&under.all)?) else {
        return Err("the gold does not run with its sort keys added".into());
    };
    let mut interner = Interner::default();
    let (every, gold) = (interner.grid(&every), interner.grid(gold));
    let mut keys_of: HashMap<&[u32], Vec<u32>> = HashMap::new();
    for row in every.rows() {
        let keys: Vec<u32> = under.keys.iter().filter_map(|&key| row.get(key).copied()).collect();
        let row = row.get(..under.width).unwrap_or(row);
        if keys_of.entry(row).or_insert_with(|| keys.clone()) != &keys {
            return Err("DISTINCT makes one row of rows with different sort keys, \
                        and which of them SQLite sorts by is not determined"
                .into());
        }
    }
    let keys: Option<Vec<&Vec<u32>>> = gold.rows().map(|row| keys_of.get(row)).collect();
    match keys {
        Some(keys) if keys_of.len() == all.len() => {
            Ok(keys.chunk_by(|a, b| a == b).map(<[_]>::len).collect())
        }
        _ => Err("DISTINCT makes one row of rows that only a collation takes for equal".into()),
    }
}

/// Whether `wider` has the rows of `rows`, in order, with columns appended.
fn has_same_rows(rows: &ResultSet, wider: &ResultSet) -> bool {
    rows.len() == wider.len() && rows.rows().zip(wider.rows()).all(|(row, wide)| wide.starts_with(row))
}
