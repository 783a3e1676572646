//! The lexicon of `evolve` has the words of real schemas, and finds a new name for every table and column.

use serde_json::Value;
use sqlgauge_base::Random;
use sqlgauge_names::{Convention, NamesInUse, Naming, Naturalness, coverage, rename};

/// A table's name, or a column's with its table.
type Named = (Option<String>, String);

#[test]
fn the_lexicon_has_the_words_of_spider_and_bird() {
    let Some(data) = sqlgauge_conformance::data() else { return };
    let (mut words, mut hits, mut elements, mut renamed) = (0, 0, 0, 0);
    for file in ["spider/tables.json", "bird/dev_tables.json"] {
        let catalogs: Vec<Value> =
            serde_json::from_str(&sqlgauge_conformance::read(&data.join(file))).expect("a catalog in JSON");
        for names in catalogs.iter().map(names) {
            let convention = Convention::of(names.iter().map(|(_, name)| name.as_str()));
            let in_use = NamesInUse::new(names.iter().map(|(_, name)| name.as_str()));
            for (owner, identifier) in &names {
                let naturalness = Naturalness::Regular;
                let naming = Naming { identifier, owner: owner.as_deref(), convention, naturalness };
                let (of_lexicon, all) = coverage(&naming);
                (words, hits, elements) = (words + all, hits + of_lexicon, elements + 1);
                renamed += usize::from(rename(&naming, &in_use, &mut Random::new([7])).is_some());
            }
        }
    }
    println!("{hits} of {words} words are the lexicon's; {renamed} of {elements} names have another");
    assert!(hits * 100 >= words * 90, "{hits} of {words} words");
    assert!(renamed * 100 >= elements * 99, "{renamed} of {elements} names");
}

fn names(catalog: &Value) -> Vec<Named> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tables: Vec<String> =
        catalog["table_names_original"].as_array().into_iter().flatten().map(text).collect();
    let columns = catalog["column_names_original"].as_array().into_iter().flatten().filter_map(|column| {
        let table = usize::try_from(column[0].as_i64()?).ok()?;
        Some((Some(tables.get(table)?.clone()), text(&column[1])))
    });
    let columns: Vec<Named> = columns.collect();
    tables.into_iter().map(|table| (None, table)).chain(columns).collect()
}
