//! Golds whose rows the data leave open are not written where rows come from other tables, and are called by what they are; those
//! whose rows follow from the data are written.

use crate::common::scripted;
use sqlgauge_evolve::ChangeRecord;
use sqlgauge_evolve::layout::EvolveReason;

/// Two products of the first maker have the highest price, one of the second.
const WORLD: &str = "
    CREATE TABLE maker (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
    CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price INTEGER, maker_id INTEGER REFERENCES maker (id));
    INSERT INTO maker VALUES (1, 'A', 'Ulm'), (2, 'B', 'Bonn');
    INSERT INTO product VALUES (1, 'drive', 180, 1), (2, 'burner', 180, 1), (3, 'disk', 9, 1), (4, 'screen', 240, 2), (5, 'lamp', 5, 2);";

const MERGE: &str = r#"{"db_id": "d", "operator": "merge_tables", "child": "product", "key": ["maker_id"], "parent": "maker", "to": "made", "renamed": [["maker.name", "maker_name"]], "shape": "inner"}"#;

/// A gold, and whether its rows follow from the data.
const GOLDS: [(&str, bool); 11] = [
    (
        "SELECT p.name, max(p.price), m.name FROM product AS p JOIN maker AS m ON p.maker_id = m.id GROUP BY m.name",
        false,
    ),
    (
        "SELECT p.name, max(p.price) FROM product AS p JOIN maker AS m ON p.maker_id = m.id WHERE m.name = 'B' GROUP BY m.name",
        true,
    ),
    ("SELECT name, maker_id FROM product GROUP BY maker_id", false),
    ("SELECT name FROM product GROUP BY maker_id ORDER BY price DESC LIMIT 1", false),
    (
        "SELECT m.name, m.town, count(*) FROM product AS p JOIN maker AS m ON p.maker_id = m.id GROUP BY m.id",
        true,
    ),
    ("SELECT town FROM maker WHERE id IN (SELECT id FROM product GROUP BY maker_id)", false),
    ("SELECT group_concat(name) FROM product", false),
    ("SELECT avg(price), max(name) FROM product", true),
    ("SELECT DISTINCT price FROM product", true),
    ("SELECT name, row_number() OVER (ORDER BY price) FROM product", false),
    ("SELECT name, rank() OVER (ORDER BY price) FROM product", true),
];

#[test]
fn what_the_data_leave_open_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let golds: Vec<&str> = GOLDS.iter().map(|(gold, _)| *gold).collect();
    let out = scripted(folder.path(), WORLD, MERGE, &golds);
    let text = std::fs::read_to_string(out.join("changes.jsonl")).unwrap();
    let mut items = 0;
    for record in text.lines().map(|line| serde_json::from_str(line).unwrap()) {
        let ChangeRecord::Item(item) = record else { continue };
        let (gold, is_determined) = GOLDS[item.source_index];
        let expected = (is_determined, (!is_determined).then_some(EvolveReason::Undetermined));
        assert_eq!((item.written, item.reason), expected, "{gold}: {:?}", item.detail);
        items += 1;
    }
    assert_eq!(items, GOLDS.len());
}

/// A view has no rowid, also where the table has it under a name.
#[test]
fn a_gold_with_a_rowid_cannot_be_asked_through_views() {
    let folder = tempfile::tempdir().unwrap();
    let golds = [
        "SELECT rowid FROM product WHERE price > 100",
        "SELECT name FROM maker WHERE OID = 1",
        "SELECT name FROM maker",
    ];
    let out = scripted(folder.path(), WORLD, MERGE, &golds);
    let text = std::fs::read_to_string(out.join("changes.jsonl")).unwrap();
    let reasons: Vec<Option<EvolveReason>> = text
        .lines()
        .filter_map(|line| match serde_json::from_str(line).unwrap() {
            ChangeRecord::Item(item) => Some(item.reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, [Some(EvolveReason::NotThroughViews), Some(EvolveReason::NotThroughViews), None]);
}
