//! A small share of the law of the symbolic execution; `ENCODER_QUERIES` and `ENCODER_SEED` make it a hunt.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlgauge_law::encoder::construct::Construct;
use sqlgauge_law::encoder::defect::{DEFECTS, planted};
use sqlgauge_law::encoder::{hunt, hunt_construct};
use sqlgauge_prove::EncoderDefect;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "long: cargo xtask long"]
fn with_the_values_of_a_database_put_in_the_symbolic_rows_are_those_of_sqlite() {
    let queries = usize::try_from(number("ENCODER_QUERIES", 400)).unwrap();
    let tally = hunt(number("ENCODER_SEED", 1), queries, 3).unwrap();
    println!("{} compared, {} with rows, {} open", tally.compared, tally.with_rows, tally.open);
    for (construct, count) in &tally.unsupported {
        println!("{count:6}  unsupported: {construct}");
    }
    assert!(
        tally.violations.is_empty(),
        "{} violations\n{}",
        tally.violations.len(),
        tally.violations[..tally.violations.len().min(12)].join("\n")
    );
    assert!(tally.with_rows * 10 > queries, "too few are compared");
}

#[test]
#[ignore = "long: cargo xtask long"]
fn about_each_construct_the_symbolic_rows_are_those_of_sqlite() {
    let queries = usize::try_from(number("ENCODER_QUERIES", 400)).unwrap();
    let mut wrong = Vec::new();
    for construct in Construct::ALL {
        let tally =
            hunt_construct(construct, None, number("ENCODER_SEED", 1), (queries, queries * 20)).unwrap();
        println!("{construct:?}: {} compared, {} open, {:?}", tally.compared, tally.open, tally.unsupported);
        wrong.extend(tally.violations.first().map(|first| {
            format!("{construct:?}: {} violations, the first:\n{first}", tally.violations.len())
        }));
        assert_eq!(tally.compared.min(queries), queries, "{construct:?}: too few are compared");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "long: cargo xtask long"]
fn every_construct_has_something_planted_and_the_law_finds_it() {
    let all = planted();
    for construct in Construct::ALL {
        let is_planted = all.iter().any(|(of, _)| *of == construct);
        assert!(
            is_planted,
            "{construct:?} has nothing planted: give it a line in `MISREADINGS` or `DEFECTS`"
        );
    }
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((construct, planted)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tally = hunt_construct(*construct, Some(*planted), 1, (2_000, 20_000)).unwrap();
            println!("{construct:?} {planted:?}: after {}", tally.compared);
            if tally.violations.is_empty() {
                missed.lock().unwrap().push(format!("{construct:?}: {planted:?}, {tally:?}"));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}

#[test]
fn every_defect_of_the_encoder_is_planted() {
    let planted: Vec<EncoderDefect> = DEFECTS.iter().map(|(defect, _)| *defect).collect();
    assert_eq!(planted, EncoderDefect::ALL);
    assert!(DEFECTS.iter().all(|(_, constructs)| !constructs.is_empty()));
}
