//! Folders of tables as people have them, and the databases that become of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use sqlgauge_tables::{
    FileOutcome, FileRefusal, ForeignKeyOutcome, Lines, REPORT_FILE, TablesError, TablesOptions,
    TablesRecord, TablesReport, build,
};

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            let path = folder.path().join("in").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        fs::create_dir_all(folder.path().join("in")).unwrap();
        Self { folder }
    }

    fn build(&self, options: &TablesOptions) -> Result<TablesReport, TablesError> {
        build(&self.folder.path().join("in"), &self.folder.path().join("out"), options)
    }

    fn out(&self) -> std::path::PathBuf {
        self.folder.path().join("out")
    }

    fn database(&self, db_id: &str) -> Connection {
        Connection::open(self.out().join(db_id).join(format!("{db_id}.sqlite"))).unwrap()
    }
}

fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let count = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| {
        let value = |at| match row.get_unwrap::<_, rusqlite::types::Value>(at) {
            rusqlite::types::Value::Null => "NULL".to_owned(),
            rusqlite::types::Value::Integer(value) => value.to_string(),
            rusqlite::types::Value::Real(value) => format!("{value:?}"),
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Blob(_) => "blob".to_owned(),
        };
        Ok((0..count).map(value).collect::<Vec<_>>().join("|"))
    };
    statement.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap()
}

fn refusals(report: &TablesReport) -> BTreeMap<&str, FileRefusal> {
    let refused = report.files.iter().filter_map(|file| match &file.outcome {
        FileOutcome::Refused { reason, detail } => {
            assert!(!detail.is_empty(), "{}", file.file);
            Some((file.file.as_str(), *reason))
        }
        FileOutcome::Used(_) => None,
    });
    refused.collect()
}

#[test]
fn a_table_becomes_a_typed_database_with_a_key() {
    let world = World::new(&[(
        "people.csv",
        b"id,name,born,height\n1,Ann,31/01/1990,1.70\n2,Bob,NA,1.82\n3,Eve,02/03/1985,\n",
    )]);
    let report = world.build(&TablesOptions::default()).unwrap();
    assert_eq!(report.databases[0].db_id, "people");
    let connection = world.database("people");
    let ddl = rows(&connection, "SELECT sql FROM sqlite_master");
    assert_eq!(
        ddl,
        [
            "CREATE TABLE people (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL,\n    born DATE,\n    height REAL\n)"
        ]
    );
    assert_eq!(
        rows(&connection, "SELECT * FROM people"),
        ["1|Ann|1990-01-31|1.7", "2|Bob|NULL|1.82", "3|Eve|1985-03-02|NULL"]
    );
    let lines = fs::read_to_string(world.out().join(REPORT_FILE)).unwrap();
    assert_eq!(lines.lines().count(), report.records().count());
    assert!(
        lines.starts_with(r#"{"about":"file","file":"people.csv","outcome":"used","db_id":"people""#),
        "{lines}"
    );
    assert!(matches!(report.records().last(), Some(TablesRecord::Database(_))));
    let left: Vec<_> = fs::read_dir(world.out()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// 60 orders of 12 customers in 4 cities of 2 countries, some without a city.
fn shop() -> World {
    let mut orders = String::from("order_id,customer_id,city,country,amount\n");
    let cities = [("Lyon", "France"), ("Nice", "France"), ("Bonn", "Germany"), ("Köln", "Germany")];
    for order in 1..=60 {
        let (city, country) = if order % 7 == 5 { ("", "") } else { cities[(order + order / 12) % 4] };
        writeln!(orders, "{order},{},{city},{country},{}.5", 100 + order % 12, order * 37 % 50).unwrap();
    }
    let mut customers = String::from("customer_id,name\n");
    (0..12).for_each(|at| writeln!(customers, "{},Person {at}", 100 + at).unwrap());
    World::new(&[("shop/orders.csv", orders.as_bytes()), ("shop/customers.csv", customers.as_bytes())])
}

#[test]
fn tables_are_split_joined_and_brought_together() {
    let world = shop();
    let report = world.build(&TablesOptions::default()).unwrap();
    assert_eq!(report.databases.iter().map(|database| database.db_id.as_str()).collect::<Vec<_>>(), ["shop"]);
    let connection = world.database("shop");
    let names = rows(&connection, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    assert_eq!(names, ["city", "customers", "orders"]);
    assert_eq!(
        rows(&connection, "SELECT * FROM city"),
        ["Bonn|Germany", "Köln|Germany", "Lyon|France", "Nice|France"]
    );
    let keys = rows(
        &connection,
        "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('orders') ORDER BY 1",
    );
    assert_eq!(keys, ["city|city|city", "customer_id|customers|customer_id"]);
    assert!(rows(&connection, "PRAGMA foreign_key_check").is_empty());
    // Lossless: the join has the rows of the file.
    let joined = rows(
        &connection,
        "SELECT o.order_id, o.customer_id, o.city, c.country, o.amount FROM orders o LEFT JOIN city c ON o.city = c.city ORDER BY 1",
    );
    let file = fs::read_to_string(world.folder.path().join("in/shop/orders.csv")).unwrap();
    let expected: Vec<String> =
        file.lines().skip(1).map(|line| line.replace(",,", ",NULL,NULL").replace(',', "|")).collect();
    let expected: Vec<String> =
        expected.iter().map(|line| line.replace("NULL|NULL", "NULL|NULL|").replace("||", "|")).collect();
    assert_eq!(joined, expected);
}

#[test]
fn the_threads_do_not_show() {
    let files = |threads: usize| {
        let world = shop();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| world.build(&TablesOptions::default())).unwrap();
        [REPORT_FILE, "shop/shop.sqlite"].map(|name| fs::read(world.out().join(name)).unwrap())
    };
    assert_eq!(files(1), files(3));
}

#[test]
fn bad_input_is_handled_or_refused_by_name() {
    let names: Vec<String> = (0..=10_000).map(|at| format!("c{at}")).collect();
    let wide = format!("{}\n{}1\n", names.join(","), "1,".repeat(10_000));
    let ragged = "a,b\n1,2\n1,2,3\n1,2,3\n4\n4,5\n";
    let some = b"k,v\n1,x\n2,y\n3,z\n";
    let world = World::new(&[
        ("good.csv", some),
        ("same.csv", some),
        ("wide.csv", wide.as_bytes()),
        ("ragged.csv", ragged.as_bytes()),
        ("few.csv", b"a,b\n1,2\n"),
        ("empty.csv", b""),
        ("blank.csv", b"\n\n\n"),
        ("names.csv", b"a,b\n"),
        ("one.csv", b"a\nx\ny\nz\n"),
        ("nulls.csv", b"a,b\nx,\ny,NA\nz,-\n"),
        ("binary.csv", b"a,b\0c\n1,2\n"),
        ("zip.csv", b"PK\x03\x04rest"),
        ("russian.csv", "имя,город\nИван,Москва\nПётр,Казань\nАнна,Омск\n".as_bytes()),
        ("quote.csv", b"a,b\n1,\"x\n2,y\n3,z\n"),
        ("image.png", b"\x89PNG"),
        ("damaged.parquet", b"PAR1xxxxPAR1"),
    ]);
    let report = world.build(&TablesOptions::default()).unwrap();
    let refused = refusals(&report);
    let parquet = if cfg!(feature = "parquet") { FileRefusal::Damaged } else { FileRefusal::NotBuiltIn };
    let expected = [
        ("binary.csv", FileRefusal::Binary),
        ("blank.csv", FileRefusal::Empty),
        ("damaged.parquet", parquet),
        ("empty.csv", FileRefusal::Empty),
        ("few.csv", FileRefusal::TooFewRows),
        ("image.png", FileRefusal::NotATable),
        ("names.csv", FileRefusal::TooFewRows),
        ("nulls.csv", FileRefusal::TooFewColumns),
        ("one.csv", FileRefusal::TooFewColumns),
        ("quote.csv", FileRefusal::TooFewRows),
        ("ragged.csv", FileRefusal::Ragged),
        ("russian.csv", FileRefusal::Script),
        ("same.csv", FileRefusal::DuplicateTable),
        ("wide.csv", FileRefusal::TooManyColumns),
        ("zip.csv", FileRefusal::Binary),
    ];
    assert_eq!(refused, BTreeMap::from(expected));
    assert_eq!(report.databases.len(), 1);
}

#[test]
fn mixed_texts_and_odd_names_are_read() {
    let world = World::new(&[(
        "odd/caf\u{e9} list.csv",
        b"\xEF\xBB\xBF\"Order\";Pr\xc3\xa9nom;pr\xc3\xa9nom;;\n1;J\xc3\xb6rg;J\xc3\xb6rg;a\n2;Zo\xeb;x;b;;\n3;\"semi;colon\";y;c;\n4;z;w;d;5;6;;\n",
    )]);
    let options = TablesOptions { fill_short_lines: true, ..TablesOptions::default() };
    let report = world.build(&options).unwrap();
    let FileOutcome::Used(table) = &report.files[0].outcome else { panic!("{report:?}") };
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["Order_value", "Prenom", "prenom_2", "column_4"]);
    let lines = |first: &[u64]| Lines { count: first.len() as u64, first: first.to_vec() };
    assert_eq!((&table.ragged.filled, table.ragged.cut, &table.ragged.long), (&lines(&[2]), 1, &lines(&[5])));
    assert_eq!((table.delimiter, table.db_id.as_str()), (Some(';'), "odd_cafe_list"));
    let connection = world.database("odd_cafe_list");
    assert_eq!(
        rows(&connection, "SELECT Prenom, prenom_2 FROM cafe_list"),
        ["Jörg|Jörg", "Zoë|x", "semi;colon|y"]
    );
}

#[test]
fn keys_that_are_none_are_not_declared() {
    let people = b"id,name\n1,a\n2,b\n2,c\n,d\n";
    let visits = b"visit,person_id\n1,1\n2,2\n3,9\n4,9\n";
    let persons = b"person_id,age\n1,30\n2,31\n3,30\n";
    let world = World::new(&[("people.csv", people), ("h/visits.csv", visits), ("h/persons.csv", persons)]);
    let report = world.build(&TablesOptions::default()).unwrap();
    let outcomes: Vec<_> =
        report.foreign_keys.iter().map(|key| (key.columns[0].as_str(), key.outcome, key.missing)).collect();
    assert_eq!(outcomes, [("person_id", ForeignKeyOutcome::NotIncluded, 1)]);
    let ddl = rows(&world.database("people"), "SELECT sql FROM sqlite_master");
    assert!(!ddl[0].contains("id INTEGER PRIMARY KEY"), "{ddl:?}");
}

#[test]
fn a_run_without_a_table_is_an_error_that_says_so() {
    let message = |world: &World| world.build(&TablesOptions::default()).unwrap_err().to_string();
    let nothing = message(&World::new(&[("a.txt.gz", b"x")]));
    assert!(nothing.contains("has no table") && nothing.contains(".csv"), "{nothing}");
    let refused = message(&World::new(&[("a.csv", b"a,b\n1,2\n")]));
    assert!(refused.contains("a.csv: 1 row, of at least 3"), "{refused}");
    let world = World::new(&[("a.csv", b"a,b\n1,2\n3,4\n5,6\n")]);
    fs::create_dir(world.out()).unwrap();
    fs::write(world.out().join("mine"), "x").unwrap();
    assert!(message(&world).contains("choose another folder"));
    let gone =
        build(Path::new("/nowhere/at/all"), &world.out().join("x"), &TablesOptions::default()).unwrap_err();
    assert!(gone.to_string().contains("/nowhere/at/all"));
}

/// A table with a line of each kind that costs itself, and a file that cannot be read beside it.
fn shaky() -> World {
    World::new(&[
        (
            "shaky.csv",
            b"id,price,paid\r\n1,\"$1,234.50\",yes\r\n2,$5,no\r\n2,$5,no\r\n3,$7\r\n4,$8,no,x\r\n5,$9,no\r\n",
        ),
        ("nul.csv", b"a,b\n\0,1\n"),
    ])
}

#[test]
fn a_line_that_does_not_fit_costs_itself_and_is_named() {
    let world = shaky();
    let report = world.build(&TablesOptions::default()).unwrap();
    assert_eq!(
        rows(&world.database("shaky"), "SELECT *, typeof(price) FROM shaky"),
        ["1|1234.5|yes|real", "2|5.0|no|real", "5|9.0|no|real"]
    );
    let notes = report.notes();
    assert_eq!(
        notes.rows,
        [
            "shaky.csv: 1 line (4): repeated, left out; --keep-duplicates keeps them",
            "shaky.csv: 1 line (5): too few values, left out; --fill-short-lines keeps them, with NULL for the rest",
            "shaky.csv: 1 line (6): too many values, left out; put quotes around values that hold ','",
        ]
    );
    assert_eq!(
        notes.columns,
        [
            "shaky.csv: `price` is REAL: `$` is taken off its values",
            "shaky.csv: `paid` stays text: its values are `yes` and `no`; --booleans stores 1 and 0 instead",
        ]
    );
    assert_eq!(notes.files.len(), 1);
    assert!(notes.files[0].starts_with("nul.csv: a NUL byte"), "{notes:?}");
}

#[test]
fn a_strict_run_ends_at_what_it_would_leave_out() {
    let strict = TablesOptions { strict: true, ..TablesOptions::default() };
    let world = shaky();
    fs::remove_file(world.folder.path().join("in/nul.csv")).unwrap();
    let message = world.build(&strict).unwrap_err().to_string();
    assert!(
        message.ends_with(
            "shaky.csv, line 5: 2 values, but the header has 3 names; fix the line, or leave --strict out"
        ),
        "{message}"
    );
    let world = shaky();
    fs::remove_file(world.folder.path().join("in/shaky.csv")).unwrap();
    let message = world.build(&strict).unwrap_err().to_string();
    assert!(message.contains("nul.csv: a NUL byte"), "{message}");
}

#[cfg(unix)]
#[test]
fn what_cannot_be_opened_does_not_end_the_run() {
    let world = World::new(&[("good.csv", b"k,v\n1,x\n2,y\n3,z\n")]);
    let link = |name: &str| world.folder.path().join("in").join(name);
    std::os::unix::fs::symlink("nothing.csv", link("gone.csv")).unwrap();
    std::os::unix::fs::symlink(std::env::temp_dir(), link("folder")).unwrap();
    let report = world.build(&TablesOptions::default()).unwrap();
    let expected = [("folder/", FileRefusal::LinkOut), ("gone.csv", FileRefusal::Unreadable)];
    assert_eq!(refusals(&report), BTreeMap::from(expected));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_of_the_folder_only() {
    let some = b"k,v\n1,x\n2,y\n3,z\n";
    let (world, elsewhere) = (World::new(&[("good.csv", some)]), tempfile::tempdir().unwrap());
    fs::write(elsewhere.path().join("private.csv"), "name,pay\nann,1\nbob,2\ncy,3\n").unwrap();
    let link = |from: std::path::PathBuf, name: &str| {
        std::os::unix::fs::symlink(from, world.folder.path().join("in").join(name)).unwrap();
    };
    link(elsewhere.path().join("private.csv"), "out.csv");
    link(std::path::PathBuf::from("good.csv"), "inside.csv");
    let report = world.build(&TablesOptions::default()).unwrap();
    let expected = [("inside.csv", FileRefusal::DuplicateTable), ("out.csv", FileRefusal::LinkOut)];
    assert_eq!(refusals(&report), BTreeMap::from(expected));
}
