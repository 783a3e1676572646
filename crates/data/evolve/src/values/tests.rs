use super::*;

fn of(table: &str, column: &str, values: &[Option<&str>]) -> Result<ColumnSplit, ValuesRefusal> {
    let values: Vec<Value> = values.iter().map(|value| value.map_or(Value::Null, Value::text)).collect();
    let (convention, in_use) = (Convention::Underscore, &NamesInUse::new([column]));
    split(&Subject { table, column, columns: &[column], convention, in_use }, &values)
}

fn names(split: &ColumnSplit) -> Vec<&str> {
    split.parts.iter().map(|part| part.name.as_str()).collect()
}

#[test]
fn columns_are_split_into_what_their_values_are_made_of() {
    for (table, column, value, parts, whole) in [
        ("singer", "Name", "Joe Sharp", vec!["First_Name", "Last_Name"], "First_Name || ' ' || Last_Name"),
        (
            "match",
            "winner_name",
            "Ana Ivanovic",
            vec!["winner_first_name", "winner_last_name"],
            "winner_first_name || ' ' || winner_last_name",
        ),
        (
            "shop",
            "manager",
            "Ann Lee",
            vec!["manager_first_name", "manager_last_name"],
            "manager_first_name || ' ' || manager_last_name",
        ),
        (
            "orders",
            "orderDate",
            "2008-05-19",
            vec!["orderYear", "orderMonth", "orderDay"],
            "orderYear || '-' || orderMonth || '-' || orderDay",
        ),
        (
            "people",
            "dob",
            "April 17, 1987",
            vec!["month_of_birth", "day_of_birth", "year_of_birth"],
            "month_of_birth || ' ' || day_of_birth || ', ' || year_of_birth",
        ),
        (
            "house",
            "property_address",
            "06 Main St\nMillville, WV 5",
            vec!["property_street_line", "property_city", "property_state"],
            "property_street_line || char(10) || property_city || ', ' || property_state",
        ),
        (
            "owner",
            "street",
            "0647 Hintz Village",
            vec!["street_number", "street_name"],
            "street_number || ' ' || street_name",
        ),
        ("festival", "Location", "Austin, Texas", vec!["City", "Region"], "City || ', ' || Region"),
        (
            "staff",
            "phone",
            "555-123-4567",
            vec!["phone_area_code", "phone_local_number"],
            "phone_area_code || '-' || phone_local_number",
        ),
        (
            "course",
            "course_code",
            "CS-101",
            vec!["course_prefix", "course_serial"],
            "course_prefix || '-' || course_serial",
        ),
        (
            "railway",
            "ObjectNumber",
            "1975-7006",
            vec!["ObjectPrefix", "ObjectSerial"],
            "ObjectPrefix || '-' || ObjectSerial",
        ),
        (
            "festival",
            "Chair_Name",
            "Doug Ford",
            vec!["Chair_First_Name", "Chair_Last_Name"],
            "Chair_First_Name || ' ' || Chair_Last_Name",
        ),
        ("course", "Code", "CS101", vec!["Code_Prefix", "Code_Serial"], "Code_Prefix || Code_Serial"),
    ] {
        let split =
            of(table, column, &[Some(value), None]).unwrap_or_else(|refusal| panic!("{column}: {refusal}"));
        assert_eq!((names(&split), split.whole.as_str()), (parts, whole), "{column}");
    }
}

#[test]
fn what_cannot_be_split_is_refused_with_a_reason() {
    for (table, column, values, refusal) in [
        ("singer", "name", vec![None], ValuesRefusal::NoValues),
        ("singer", "name", vec![Some("Joe"), Some("Ann"), Some("A B")], ValuesRefusal::Unrecognised),
        ("product", "name", vec![Some("Red Chair")], ValuesRefusal::Unrecognised),
        ("singer", "name", vec![Some("Joe \0Sharp")], ValuesRefusal::NoRoundTrip("Joe \0Sharp".to_owned())),
        ("t", "code", vec![Some("A1"), Some("B-2")], ValuesRefusal::Unrecognised),
        ("t", "code", vec![Some("1.25")], ValuesRefusal::Unrecognised),
        ("t", "code", vec![Some("125")], ValuesRefusal::Unrecognised),
        ("head", "name", vec![Some("Tiger Woods")], ValuesRefusal::Unrecognised),
        ("t", "date", vec![Some("2008-05-19"), Some("soon")], ValuesRefusal::Unrecognised),
    ] {
        assert_eq!(of(table, column, &values), Err(refusal), "{column}");
    }
    let in_use = NamesInUse::new(["name", "FIRST_NAME", "name_last_name"]);
    let subject = Subject {
        table: "singer",
        column: "name",
        columns: &["name", "FIRST_NAME", "name_last_name"],
        convention: Convention::Underscore,
        in_use: &in_use,
    };
    let refused = ValuesRefusal::NameTaken("first_name".to_owned());
    assert_eq!(split(&subject, &[Value::text("Joe Sharp")]), Err(refused));
    assert_eq!(split(&subject, &[Value::Integer(1)]), Err(ValuesRefusal::NotText));
}

#[test]
fn a_table_that_is_not_known_holds_persons_if_it_says_where_they_were_born() {
    let (column, convention, in_use) = ("name", Convention::Underscore, &NamesInUse::default());
    let name = [Value::text("Tiger Woods")];
    let split_in =
        |table, columns: &[&str]| split(&Subject { table, column, columns, convention, in_use }, &name);
    assert_eq!(names(&split_in("head", &["name", "born_state"]).unwrap()), ["first_name", "last_name"]);
    assert_eq!(split_in("head", &["name", "weight"]), Err(ValuesRefusal::Unrecognised));
    assert_eq!(split_in("product", &["name", "birthdate"]), Err(ValuesRefusal::Unrecognised));
}

#[test]
fn a_person_without_a_last_name_does_not_spoil_the_others() {
    let values = ["A B", "C D", "E F", "G H", "I J", "Timbaland"].map(Some);
    let split = of("singer", "name", &values).unwrap();
    assert_eq!(split.whole, "first_name || coalesce(' ' || last_name, '')");
    assert!(split.parts[0].not_null && !split.parts[1].not_null);
    assert!(!of("singer", "name", &[Some("A B"), None]).unwrap().parts[0].not_null);
}

fn merged(columns: &[&str], rows: &[Vec<Value>]) -> Result<ColumnMerge, ValuesRefusal> {
    let candidates =
        merge_candidates(columns, Convention::Underscore, &NamesInUse::new(columns.iter().copied()));
    candidates[0].check(rows)
}

#[test]
fn columns_that_make_a_whole_are_merged() {
    let text = |texts: &[&str]| texts.iter().map(|text| Value::text(text)).collect::<Vec<_>>();
    let merge =
        merged(&["id", "fname", "lname"], &[text(&["Joe", "Van Dyke"]), vec![Value::Null, Value::Null]])
            .unwrap();
    assert_eq!(
        (merge.whole.name.as_str(), merge.whole.value.as_str()),
        ("full_name", "fname || ' ' || lname")
    );
    assert_eq!(merge.columns[1].1, "substr(full_name, instr(full_name, ' ') + 1)");
    let merge = merged(&["fname", "lname"], &[text(&["Mary Ann", "Smith"])]).unwrap();
    assert_eq!(merge.whole.value, "fname || ', ' || lname");
    let date = [[2008, 5, 19].map(Value::Integer).to_vec()];
    let merge = merged(&["birth_year", "birth_month", "birth_day"], &date).unwrap();
    assert_eq!(merge.whole.name, "birth_date");
    assert_eq!(
        merge.whole.value,
        "birth_year || '-' || printf('%02d', birth_month) || '-' || printf('%02d', birth_day)"
    );
    assert_eq!(merge.columns[1].1, "CAST(substr(birth_date, 6, 2) AS INTEGER)");
    let merge = merged(&["Street", "City", "Zip"], &[text(&["1 Main St", "Bern", "3000"])]).unwrap();
    assert_eq!((merge.whole.name.as_str(), merge.columns.len()), ("Full_Address", 3));
}

#[test]
fn columns_whose_values_do_not_come_back_are_not_merged() {
    let row = |first: Value, last: Value| vec![first, last];
    let refused = |rows: &[Vec<Value>]| merged(&["first_name", "last_name"], rows).unwrap_err();
    assert_eq!(refused(&[]), ValuesRefusal::NoValues);
    assert_eq!(refused(&[row(Value::Null, Value::Null)]), ValuesRefusal::NoValues);
    let half = [row(Value::text("Joe"), Value::text("Sharp")), row(Value::text("Ann"), Value::Null)];
    assert_eq!(refused(&half), ValuesRefusal::NoRoundTrip("Ann, NULL".to_owned()));
    assert_eq!(refused(&[row(Value::Real(1.5), Value::text("x"))]), ValuesRefusal::NotText);
    let every = [row(Value::text("a b, c; d"), Value::text("x"))];
    assert_eq!(refused(&every), ValuesRefusal::NoRoundTrip("a b, c; d, x".to_owned()));
    let columns = ["first_name", "birth_year", "city"];
    assert!(merge_candidates(&columns, Convention::Underscore, &NamesInUse::new(columns)).is_empty());
}
