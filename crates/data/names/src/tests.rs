use super::*;

fn naming<'a>(identifier: &'a str, owner: Option<&'a str>, naturalness: Naturalness) -> Naming<'a> {
    Naming { identifier, owner, convention: Convention::Underscore, naturalness }
}

fn all(identifier: &str, owner: Option<&str>, naturalness: Naturalness) -> HashSet<String> {
    (0..200)
        .filter_map(|seed| {
            rename(&naming(identifier, owner, naturalness), &NamesInUse::default(), &mut Random::new([seed]))
        })
        .collect()
}

fn regular(identifier: &str, owner: Option<&str>) -> HashSet<String> {
    all(identifier, owner, Naturalness::Regular)
}

#[test]
fn a_new_name_means_the_same_and_is_written_alike() {
    for (old, owner, new) in [
        ("customers", None, "clients"),
        ("Customers", None, "Clients"),
        ("CUSTOMERS", None, "CLIENTS"),
        ("customer_id", Some("orders"), "client_id"),
        ("CustomerID", Some("Orders"), "ClientID"),
        ("stu_id", Some("enrollment"), "student_id"),
        ("name", Some("singer"), "full_name"),
        ("Name", Some("stadium"), "Stadium_Name"),
        ("name", Some("singer"), "singer_name"),
        ("id", Some("students"), "student_id"),
        ("birth_date", Some("people"), "date_of_birth"),
        ("birthdate", Some("people"), "date_of_birth"),
        ("dept", None, "department"),
        ("Phone Number", Some("staff"), "Telephone Number"),
        ("flags", Some("matches"), "markers"),
        ("xyzzy", Some("singers"), "singer_xyzzy"),
        ("xyzzy", None, "xyzzy_data"),
        ("xyzzys", None, "xyzzy_entries"),
    ] {
        let names = regular(old, owner);
        assert!(names.contains(new), "{old} of {owner:?}: {names:?}");
    }
}

#[test]
fn a_word_has_the_meaning_of_its_table() {
    assert_eq!(regular("title", Some("employee")), ["employee_title".to_owned()].into());
    assert!(regular("title", Some("films")).contains("film_title"));
    assert!(regular("h", Some("batting")).contains("hits"));
    assert!(!regular("h", Some("circuit")).contains("hits"));
    assert!(!regular("name", Some("product")).contains("full_name"));
}

#[test]
fn a_name_says_nothing_twice() {
    for name in regular("player_name", Some("players")) {
        assert_eq!(
            bare_words(&name).iter().filter(|word| *word == "player").count(),
            usize::from(name.contains("player"))
        );
    }
    assert!(!regular("home_city", Some("people")).contains("home_home_town"));
}

#[test]
fn taken_names_and_keywords_are_not_given() {
    let in_use = NamesInUse::new(["STUDENT_IDENTIFIER", "pupil_id"]);
    for seed in 0..200 {
        let new =
            rename(&naming("student_id", None, Naturalness::Regular), &in_use, &mut Random::new([seed]))
                .unwrap();
        assert!(!in_use.contains(&new) && new != "student_id", "{new}");
    }
    assert!(!regular("sequence", None).contains("order"));
    assert_eq!(acceptable("order", "sequence", &in_use), Err(NameError::NeedsQuotes));
    assert_eq!(acceptable("order", "group", &in_use), Ok(()));
    assert_eq!(acceptable("Pupil_ID", "x", &in_use), Err(NameError::Taken));
    assert_eq!(acceptable("ROWID", "x", &in_use), Err(NameError::Reserved));
    assert_eq!(acceptable("sqlite_x", "x", &in_use), Err(NameError::Reserved));
    assert_eq!(acceptable(" ", "x", &in_use), Err(NameError::Unprintable));
    assert_eq!(acceptable("a\nb", "x y", &in_use), Err(NameError::Unprintable));
}

#[test]
fn every_level_is_less_readable_than_the_one_before() {
    let low = all("customer_address", Some("orders"), Naturalness::Low);
    assert!(low.contains("cust_addr") || low.contains("custaddr"), "{low:?}");
    let low = all("DepartmentName", Some("orders"), Naturalness::Low);
    assert!(low.contains("DeptNm"), "{low:?}");
    let low = all("hypothetical_lanterns", None, Naturalness::Low);
    assert!(low.contains("hyp_lants"), "{low:?}");
    let least = all("customer_address", Some("orders"), Naturalness::Least);
    assert_eq!(least, ["cs_ad", "cst_adr", "csad"].map(str::to_owned).into());
    let least = all("total_number_of_vehicles", None, Naturalness::Least);
    assert!(least.contains("tnov"), "{least:?}");
}

#[test]
fn a_name_follows_from_its_seed_alone() {
    for naturalness in Naturalness::ALL {
        let new = || {
            rename(
                &naming("order_date", Some("orders"), naturalness),
                &NamesInUse::default(),
                &mut Random::new([9]),
            )
        };
        assert_eq!(new(), new());
        assert_eq!(naturalness.name().parse(), Ok(naturalness));
    }
    assert!("natural".parse::<Naturalness>().is_err());
}

#[test]
fn strange_names_get_one_that_fits_or_none() {
    let long = "abcdefghij".repeat(2_000);
    for name in ["", "_", "é", "日本", "123", "a\"b", "-", "select", "Percent (%) Eligible (K-12)", &long]
    {
        for naturalness in Naturalness::ALL {
            for owner in [None, Some("singer"), Some("")] {
                let new = rename(
                    &naming(name, owner, naturalness),
                    &NamesInUse::new([name]),
                    &mut Random::new([1]),
                );
                assert!(
                    new.is_none_or(|new| acceptable(&new, name, &NamesInUse::new([name])).is_ok()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn a_question_uses_no_other_name_that_may_mean_something_else() {
    // The details of something are all that is known of it.
    assert!(other_names("description").is_empty());
    assert!(regular("description", None).contains("details"));
    assert_eq!(other_names("details"), ["particulars", "specifics"]);
}
