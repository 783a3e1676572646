//! One batch: golds first, then each distinct answer once, then new witnesses.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};
use sqlgauge_dataset::extract_sql;
use sqlgauge_engine::{EngineError, FaultCount};
use sqlgauge_search::Witness;

use crate::answering::Answering;
use crate::code::Code;
use crate::error::RewardError;
use crate::golds::Gold;
use crate::judge::{Case, GoldQuestion};
use crate::kinds::{self, Worth};
use crate::lanes::Lanes;
use crate::options::RewardKind;
use crate::request::{Request, RewardResult};
use crate::reward::{Growth, Reward};
use crate::subject::Subject;

/// Databases on which a wrong answer is tried for a new witness.
const GROWTH_DATABASES: usize = 96;

/// Characters of an answer that an error quotes.
const QUOTED: usize = 200;

/// A result that was worked out before.
#[derive(Debug)]
pub(crate) struct Remembered {
    result: RewardResult,
    /// What was known of its questions then, where that decided.
    fingerprints: Option<Vec<Option<String>>>,
}

/// Answers that SQLite cannot tell apart, on one database.
struct Job<'a> {
    subject: &'a Arc<Subject>,
    /// The SQL of the first of them.
    sql: String,
    key: String,
    /// Their golds, with the places of the requests.
    members: Vec<(Vec<GoldQuestion>, Vec<usize>)>,
}

/// What came of one member of a job.
struct MemberResult {
    result: RewardResult,
    /// A database that tells the answer from the gold at that place.
    new: Option<(usize, Witness)>,
    /// Whether witnesses may be made of the answer.
    is_wrong: bool,
}

/// Golds by `db_id` and text.
type Golds<'a> = HashMap<(&'a str, &'a str), GoldQuestion>;

/// Does the work of a batch, which is told how much the machine had failed at before. What it fails at meanwhile is the reason
/// for all that goes wrong, and ends this batch alone: what golds found out in that time is forgotten.
fn batch<T>(
    reward: &Reward,
    work: impl FnOnce(FaultCount) -> Result<T, RewardError>,
) -> Result<T, RewardError> {
    let began = reward.engine().faults();
    let done = work(began);
    let Err(fault) = reward.engine().check_since(began) else { return done };
    reward.golds.clear();
    match done {
        Err(RewardError::Engine(EngineError::Stopped)) => done,
        _ => Err(fault.into()),
    }
}

pub(crate) fn score(
    reward: &Reward,
    requests: &[Request],
    stop: Option<&AtomicBool>,
) -> Result<Vec<RewardResult>, RewardError> {
    batch(reward, |began| score_batch(reward, requests, stop, began))
}

fn score_batch(
    reward: &Reward,
    requests: &[Request],
    stop: Option<&AtomicBool>,
    began: FaultCount,
) -> Result<Vec<RewardResult>, RewardError> {
    if let Some(at) = requests.iter().position(|request| request.golds.is_empty()) {
        return Err(RewardError::NoGold(at));
    }
    let pairs = requests
        .iter()
        .flat_map(|request| request.golds.iter().map(|gold| (request.db_id.as_str(), gold.as_str())));
    let pairs: Vec<(&str, &str)> = pairs.collect();
    let subjects = subjects(reward, pairs.iter().map(|(db_id, _)| *db_id))?;
    let golds = golds(reward, &subjects, &pairs, stop)?;
    let jobs = jobs(reward, requests, &subjects, &golds);
    let judged = in_lanes(
        reward,
        jobs.len(),
        stop,
        |at, lanes| judge(reward, &jobs[at], lanes, stop),
        |at| jobs[at].sql.as_str(),
    )?;
    check(reward, &subjects, stop, began)?;
    grow(reward, &jobs, &judged)?;
    let mut results: Vec<Option<RewardResult>> = vec![None; requests.len()];
    for (job, judged) in jobs.iter().zip(judged) {
        for ((_, places), judged) in job.members.iter().zip(judged) {
            places.iter().for_each(|&place| results[place] = Some(judged.result.clone()));
        }
    }
    // Every request is a member of one job.
    Ok(results.into_iter().flatten().collect())
}

pub(crate) fn prepare(reward: &Reward, questions: &[(String, String)]) -> Result<Growth, RewardError> {
    batch(reward, |began| prepare_batch(reward, questions, began))
}

fn prepare_batch(
    reward: &Reward,
    questions: &[(String, String)],
    began: FaultCount,
) -> Result<Growth, RewardError> {
    let pairs: BTreeSet<(&str, &str)> =
        questions.iter().map(|(gold, db_id)| (db_id.as_str(), gold.as_str())).collect();
    let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
    let subjects = subjects(reward, pairs.iter().map(|(db_id, _)| *db_id))?;
    let golds = golds(reward, &subjects, &pairs, None)?;
    let work = |at: usize, _: &Lanes| {
        let (db_id, _) = pairs[at];
        let item = &golds[&pairs[at]];
        let question = item.question.as_ref().filter(|_| item.gold.rows().is_some());
        question.map(|question| question.witnesses(&item.gold, &subjects[db_id])).transpose()
    };
    let all = in_lanes(reward, pairs.len(), None, work, |at| pairs[at].1)?;
    check(reward, &subjects, None, began)?;
    let mut growth = Growth { questions: pairs.len(), ..Growth::default() };
    for ((_, gold), (witnesses, place)) in pairs.iter().zip(all.into_iter().zip(&pairs)) {
        if golds[place].gold.failure().is_some() {
            growth.failed.push((*gold).to_owned());
        }
        let Some(witnesses) = witnesses else { continue };
        growth.witnesses += witnesses.list.len();
        growth.none.extend(witnesses.none.clone().map(|reason| ((*gold).to_owned(), reason)));
    }
    Ok(growth)
}

/// The databases of a batch, opened.
fn subjects<'a>(
    reward: &Reward,
    db_ids: impl Iterator<Item = &'a str>,
) -> Result<HashMap<&'a str, Arc<Subject>>, RewardError> {
    let db_ids: Vec<&str> = db_ids.collect::<BTreeSet<_>>().into_iter().collect();
    let opened = in_lanes(reward, db_ids.len(), None, |at, _| reward.subject(db_ids[at]), |at| db_ids[at])?;
    Ok(db_ids.into_iter().zip(opened).collect())
}

/// The golds of a batch, each run once, with what is known of their questions.
fn golds<'a>(
    reward: &Reward,
    subjects: &HashMap<&str, Arc<Subject>>,
    pairs: &[(&'a str, &'a str)],
    stop: Option<&AtomicBool>,
) -> Result<Golds<'a>, RewardError> {
    let distinct: BTreeSet<(&str, &str)> = pairs.iter().copied().collect();
    let distinct: Vec<(&str, &str)> = distinct.into_iter().collect();
    let ask = |at: usize, lanes: &Lanes| {
        let (db_id, text) = distinct[at];
        let subject = &subjects[db_id];
        let gold = gold(reward, subject, text, lanes, stop)?;
        let question = reward.witnesses.as_ref().map(|all| all.question(&gold, subject));
        if let Some(question) = &question {
            question.refresh()?;
        }
        Ok(GoldQuestion { gold, question })
    };
    let golds = in_lanes(reward, distinct.len(), stop, ask, |at| distinct[at].1)?;
    Ok(distinct.iter().copied().zip(golds).collect())
}

fn gold(
    reward: &Reward,
    subject: &Subject,
    text: &str,
    lanes: &Lanes,
    stop: Option<&AtomicBool>,
) -> Result<Arc<Gold>, RewardError> {
    let place = (subject.target.db_id.clone(), text.to_owned());
    if let Some(gold) = reward.golds.get(&place, |gold| gold.bytes()) {
        return Ok(gold);
    }
    let began = reward.engine().faults();
    let engine = Answering::new(&reward.runner, lanes, stop);
    let gold = Arc::new(Gold::of(
        (text, reward.key(text)),
        subject,
        &engine,
        reward.options.kind != RewardKind::Structure,
    ));
    if let Some(failure) = gold.broken_file() {
        return Err(RewardError::Database { db_id: place.0, message: failure.message.clone() });
    }
    // A gold that ran out of time may have more of it when less runs beside it, and one that was stopped has no outcome.
    let is_settled =
        gold.failure().is_none_or(|failure| Code::of_failure(failure.kind) != Some(Code::Timeout));
    if is_settled && !is_set(stop) && reward.engine().check_since(began).is_ok() {
        reward.golds.insert(place, Arc::clone(&gold), gold.bytes());
    }
    Ok(gold)
}

/// The distinct answers of a batch.
fn jobs<'a>(
    reward: &Reward,
    requests: &[Request],
    subjects: &'a HashMap<&str, Arc<Subject>>,
    golds: &Golds<'_>,
) -> Vec<Job<'a>> {
    let mut jobs: Vec<Job<'a>> = Vec::new();
    let mut by_key: HashMap<(&str, String), usize> = HashMap::new();
    let mut by_golds: HashMap<(usize, &[String]), usize> = HashMap::new();
    for (place, request) in requests.iter().enumerate() {
        let sql = if reward.options.extract {
            extract_sql(&request.prediction).sql
        } else {
            request.prediction.clone()
        };
        let key = reward.key(&sql);
        let job = *by_key.entry((request.db_id.as_str(), key.clone())).or_insert_with(|| {
            let subject = &subjects[request.db_id.as_str()];
            jobs.push(Job { subject, sql, key, members: Vec::new() });
            jobs.len() - 1
        });
        let members = &mut jobs[job].members;
        let member = *by_golds.entry((job, request.golds.as_slice())).or_insert_with(|| {
            let of = |gold: &String| golds[&(request.db_id.as_str(), gold.as_str())].clone();
            members.push((request.golds.iter().map(of).collect(), Vec::new()));
            members.len() - 1
        });
        members[member].1.push(place);
    }
    jobs
}

/// Does the work of a batch on threads.
fn in_lanes<'a, T: Send>(
    reward: &Reward,
    count: usize,
    stop: Option<&AtomicBool>,
    work: impl Fn(usize, &Lanes) -> Result<T, RewardError> + Sync,
    text: impl Fn(usize) -> &'a str,
) -> Result<Vec<T>, RewardError> {
    let guarded = |at: usize, lanes: &Lanes| {
        if is_set(stop) { Err(EngineError::Stopped.into()) } else { work(at, lanes) }
    };
    let done = Lanes::run(reward.options.cores(), reward.options.processes(), count, guarded)
        .map_err(RewardError::Thread)?;
    let results = done.into_iter().enumerate().map(|(at, result)| {
        let answer = || text(at).chars().take(QUOTED).collect();
        result.unwrap_or_else(|message| Err(RewardError::Defect { message, answer: answer() }))
    });
    results.collect()
}

fn is_set(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// Whether the machinery was sound all the while.
fn check(
    reward: &Reward,
    subjects: &HashMap<&str, Arc<Subject>>,
    stop: Option<&AtomicBool>,
    began: FaultCount,
) -> Result<(), RewardError> {
    if is_set(stop) {
        return Err(EngineError::Stopped.into());
    }
    reward.engine().check_since(began)?;
    // Looked at afterwards: what was read from another file is no result.
    subjects.values().try_for_each(|subject| subject.target.database.check_unchanged())?;
    Ok(())
}

/// All members of a job, for which the answer runs once.
fn judge(
    reward: &Reward,
    job: &Job<'_>,
    lanes: &Lanes,
    stop: Option<&AtomicBool>,
) -> Result<Vec<MemberResult>, RewardError> {
    let engine = Answering::new(&reward.runner, lanes, stop);
    let (subject, sql, key) = (&**job.subject, job.sql.as_str(), job.key.as_str());
    let case = Case { options: &reward.options, subject, engine: &engine, sql, key };
    job.members.iter().map(|(golds, _)| judge_member(reward, &case, golds, stop)).collect()
}

fn judge_member(
    reward: &Reward,
    case: &Case<'_>,
    golds: &[GoldQuestion],
    stop: Option<&AtomicBool>,
) -> Result<MemberResult, RewardError> {
    let (place, began) = (place_of(case, golds), reward.engine().faults());
    let is_of_now = |entry: &Arc<Remembered>| {
        entry.fingerprints.as_ref().is_none_or(|then| {
            golds.iter().zip(then).all(|(item, then)| then.is_none() || *then == fingerprint(item))
        })
    };
    let size = |entry: &Arc<Remembered>| entry.result.bytes();
    if let Some(entry) = reward.answers.get(&place, size).filter(is_of_now) {
        return Ok(MemberResult { result: entry.result.clone(), new: None, is_wrong: false });
    }
    let kind = kinds::of(reward.options.kind);
    let worths: Vec<Worth> = golds.iter().map(|item| kind.judge(case, item)).collect::<Result<_, _>>()?;
    let fingerprints =
        worths.iter().map(|worth| worth.answer.witnesses.as_ref().map(|witnesses| witnesses.fingerprint()));
    let fingerprints: Vec<Option<String>> = fingerprints.collect();
    let (at, worth) = best(worths);
    let Worth { value, answer } = worth;
    let result =
        RewardResult { witness: answer.witness, ..RewardResult::new(value, answer.code, answer.reason) };
    let is_settled = result.code != Code::Timeout && result.code != Code::GoldFailed;
    if is_settled && !is_set(stop) && reward.engine().check_since(began).is_ok() {
        let fingerprints = fingerprints.iter().any(Option::is_some).then_some(fingerprints);
        let remembered = Arc::new(Remembered { result: result.clone(), fingerprints });
        let bytes = size(&remembered);
        reward.answers.insert(place, remembered, bytes);
    }
    let is_wrong = result.code == Code::Wrong;
    Ok(MemberResult { result, new: answer.new.map(|witness| (at, witness)), is_wrong })
}

/// What an answer is worth beside the gold that suits it best, the first of equals; a gold that failed says nothing as long
/// as another did not.
fn best(worths: Vec<Worth>) -> (usize, Worth) {
    let rank = |worth: &Worth| worth.value.unwrap_or(-1.0);
    let mut worths = worths.into_iter().enumerate();
    let nothing = || {
        let answer = crate::judge::JudgedAnswer::new(
            Code::GoldFailed,
            crate::judge::Progress::Nothing,
            "the question has no gold",
        );
        (0, Worth { value: None, answer })
    };
    let first = worths.next().unwrap_or_else(nothing);
    worths.fold(first, |best, next| if rank(&next.1) > rank(&best.1) { next } else { best })
}

fn fingerprint(item: &GoldQuestion) -> Option<String> {
    item.question.as_ref().and_then(|question| question.now()).map(|witnesses| witnesses.fingerprint())
}

/// Where the result of an answer is remembered.
fn place_of(case: &Case<'_>, golds: &[GoldQuestion]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let golds = golds.iter().map(|item| item.gold.text.as_str());
    for text in [case.subject.target.db_id.as_str(), case.key].into_iter().chain(golds) {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher.finalize().into()
}

/// Keeps the witnesses that a batch has found, and makes some of its wrong answers, in the order of the batch.
fn grow(reward: &Reward, jobs: &[Job<'_>], judged: &[Vec<MemberResult>]) -> Result<(), RewardError> {
    if reward.witnesses.is_none() {
        return Ok(());
    }
    let mut wrong: Vec<(&Job<'_>, &GoldQuestion)> = Vec::new();
    for (job, judged) in jobs.iter().zip(judged) {
        for ((golds, _), judged) in job.members.iter().zip(judged) {
            if let Some((at, witness)) = &judged.new
                && let Some(question) = golds.get(*at).and_then(|item| item.question.as_ref())
            {
                question.add(witness.clone(), &job.sql)?;
            }
            if judged.is_wrong
                && let Some(item) = golds.first()
            {
                wrong.push((job, item));
            }
        }
    }
    wrong.truncate(reward.options.growth);
    let witnesses = in_lanes(
        reward,
        wrong.len(),
        None,
        |at, _| against(wrong[at].0, wrong[at].1),
        |at| wrong[at].0.sql.as_str(),
    )?;
    for ((job, item), witness) in wrong.iter().zip(witnesses) {
        if let (Some(witness), Some(question)) = (witness, &item.question) {
            question.add(witness, &job.sql)?;
        }
    }
    Ok(())
}

/// A database that tells a wrong answer from its gold, where none that is known does.
fn against(job: &Job<'_>, item: &GoldQuestion) -> Result<Option<Witness>, RewardError> {
    let Some(witnesses) = item.question.as_ref().and_then(|question| question.now()) else { return Ok(None) };
    let world = job.subject.world(witnesses.has_repeats);
    let verdict = world.searching(|search| {
        let is_told = !matches!(search.told(witnesses.databases(), &item.gold.text, &job.sql), Ok(None));
        (!is_told).then(|| search.refute_within(&item.gold.text, &job.sql, GROWTH_DATABASES))
    })?;
    let refutation = verdict.as_ref().and_then(|verdict| verdict.refutation());
    Ok(refutation
        .filter(|refutation| world.takes(refutation))
        .map(|refutation| refutation.database().clone()))
}
