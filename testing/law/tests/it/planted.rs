//! A rule that is broken on purpose is found, every rule of the sound profile.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlgauge_etm::Rule;
use sqlgauge_law::plant::{Detection, find, plants, sound_rules};

/// How long the law may take for one rule.
const LIMIT: Duration = Duration::from_mins(1);

fn first_find(rule: &'static Rule) -> Option<Detection> {
    plants(rule).iter().find_map(|plant| find(rule, *plant, 1, LIMIT / 2))
}

#[test]
#[ignore = "long: cargo xtask long"]
fn a_defect_in_any_rule_is_found_within_a_minute() {
    let rules: Vec<&'static Rule> = sound_rules().collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let worker = || {
        while let Some(rule) = rules.get(next.fetch_add(1, Ordering::Relaxed)) {
            match first_find(rule) {
                Some(detection) => {
                    println!("{} after {:?}: {}", rule.id, detection.time, detection.violation.before);
                }
                None => failures.lock().unwrap().push(rule.id),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, worker).unwrap();
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "no defect was found in {failures:?}: give them others in `PLANTS`");
}

#[test]
fn every_sound_rule_has_a_defect_in_the_registry() {
    let missing: Vec<&str> =
        sound_rules().filter(|rule| plants(rule).is_empty()).map(|rule| rule.id).collect();
    assert!(missing.is_empty(), "{missing:?} have no planted defect");
}
