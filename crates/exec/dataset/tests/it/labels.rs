//! Labels that somebody judged elsewhere.

use sqlgauge_dataset::{Columns, Input, parse_labels, take_out_other_answers};

fn labels(name: &str, text: &str, column: Option<&str>) -> Result<Vec<(String, Option<f64>)>, String> {
    let input = Input::from_bytes(name, text.into());
    let labels =
        parse_labels(&input, None, column, &Columns::default()).map_err(|error| error.to_string())?;
    Ok(labels.into_iter().map(|label| (label.id, label.correct)).collect())
}

#[test]
fn labels_are_read_from_every_format() {
    let expected = vec![("7".to_owned(), Some(1.0)), ("8".to_owned(), Some(0.0)), ("9".to_owned(), None)];
    for (name, text, column) in [
        ("l.tsv", "id\tcorrect\n7\t1\n8\t0\n9\t\n", None),
        ("l.csv", "question_id,db_id,difficulty,a,b\n7,d,x,0,true\n8,d,x,1,False\n9,d,x,0,\n", Some("b")),
        (
            "l.jsonl",
            "{\"id\": 7, \"correct\": true}\n{\"id\": \"8\", \"correct\": 0.0}\n{\"id\": 9, \"correct\": null}",
            None,
        ),
        ("l.json", r#"{"7": 1, "8": 0, "9": null}"#, None),
    ] {
        assert_eq!(labels(name, text, column).unwrap(), expected, "{text}");
    }
    assert_eq!(labels("l.csv", "id,score\na,0.25\n", None).unwrap(), [("a".to_owned(), Some(0.25))]);
}

#[test]
fn what_is_no_label_is_named_with_its_place() {
    for (text, column, problem) in [
        ("id\tcorrect\n7\t2\n", None, "the label is \"2\""),
        ("id\tcorrect\n7\tNaN\n", None, "the label is \"NaN\""),
        ("id\tcorrect\n7\t1\n7\t1\n", None, "\"7\""),
        ("id\tother\n7\t1\n", None, "there is id, other"),
        ("id\tcorrect\n7\t1\n", Some("x"), "looked for x"),
        ("correct\n1\n", None, "id"),
        ("id\tcorrect\n", None, "has no label"),
        ("id\tcorrect\tshown\n7\t1\tSELECT 1\n", None, "`shown` is \"SELECT 1\", which is not a SHA-256"),
    ] {
        let message = labels("l.tsv", text, column).unwrap_err();
        assert!(message.contains(problem) && message.contains("l.tsv"), "{message}");
    }
}

#[test]
fn a_table_of_systems_gives_the_rows_of_one() {
    let table = "system,id,ex@1\r\na,7,1\r\nb,7,0\r\nb,8,1\r\n";
    let input = Input::from_bytes("l.csv", table.into());
    let of = |system| parse_labels(&input, system, Some("ex@1"), &Columns::default());
    let labels = of(Some("b")).unwrap();
    assert_eq!(labels.iter().map(|label| label.correct).collect::<Vec<_>>(), [Some(0.0), Some(1.0)]);
    assert!(of(Some("c")).unwrap_err().to_string().contains("has no label of c"));
    let both = of(None).unwrap_err().to_string();
    assert!(both.contains("in line 2 and in line 3"), "{both}");
}

#[test]
fn a_label_is_of_the_answer_that_was_shown() {
    // SHA-256 of SELECT 1, and of nothing.
    let one = "E004EBD5B5532A4B85984A62F8AD48A81AA3460C1CA07701F386135D72CDECF5";
    let none = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let text = format!("id\tcorrect\tshown\na\t1\t{one}\nb\t1\t{one}\nc\t0\t{none}\nd\t1\t\n");
    let input = Input::from_bytes("l.tsv", text.into_bytes());
    let mut labels = parse_labels(&input, None, None, &Columns::default()).unwrap();
    let answer = |id: &str| {
        Some(if id == "a" {
            "SELECT 1"
        } else if id == "c" {
            ""
        } else {
            "SELECT 42"
        })
    };
    let warning = take_out_other_answers(&mut labels, input.path(), answer).unwrap();
    assert_eq!(
        warning,
        "l.tsv: 1 of 4 labels is of an earlier answer and does not count; label the answer again: b"
    );
    assert_eq!(labels.iter().map(|label| label.id.as_str()).collect::<Vec<_>>(), ["a", "c", "d"]);
    assert_eq!(take_out_other_answers(&mut labels, input.path(), answer), None);
}
