//! One batch: golds first, then each distinct answer once, then new witnesses.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};
use sqlgauge_base::pool::{NoThread, Panicked};
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

struct Batch<'a> {
    reward: &'a Reward,
    /// Ends the batch when it is set.
    stop: Option<&'a AtomicBool>,
    /// How much the machine had failed at before.
    began: FaultCount,
    /// The databases of the batch by `db_id`, opened.
    subjects: HashMap<&'a str, Arc<Subject>>,
    /// Its golds by `db_id` and text, each run once, with what is known of their questions.
    golds: HashMap<(&'a str, &'a str), GoldQuestion>,
}

/// Scores answers; ended when `stop` is set.
pub(crate) fn score(
    reward: &Reward,
    requests: &[Request],
    stop: Option<&AtomicBool>,
) -> Result<Vec<RewardResult>, RewardError> {
    if let Some(at) = requests.iter().position(|request| request.golds.is_empty()) {
        return Err(RewardError::NoGold(at));
    }
    let pairs = requests
        .iter()
        .flat_map(|request| request.golds.iter().map(|gold| (request.db_id.as_str(), gold.as_str())));
    Batch::run(reward, stop, &pairs.collect(), |batch| batch.score(requests))
}

/// Makes the first witnesses of golds with the `db_id` of their databases.
pub(crate) fn prepare(reward: &Reward, questions: &[(String, String)]) -> Result<Growth, RewardError> {
    let pairs = questions.iter().map(|(gold, db_id)| (db_id.as_str(), gold.as_str())).collect();
    Batch::run(reward, None, &pairs, |batch| batch.prepare(&pairs))
}

impl<'a> Batch<'a> {
    /// Does the work of a batch on golds with the `db_id` of their databases. What the machine fails at meanwhile is the reason
    /// for all that goes wrong, and ends this batch alone: what golds found out in that time is forgotten.
    fn run<T>(
        reward: &'a Reward,
        stop: Option<&'a AtomicBool>,
        pairs: &BTreeSet<(&'a str, &'a str)>,
        work: impl FnOnce(&Self) -> Result<T, RewardError>,
    ) -> Result<T, RewardError> {
        let began = reward.engine().faults();
        let mut batch = Self { reward, stop, began, subjects: HashMap::new(), golds: HashMap::new() };
        let done = batch.open(pairs).and_then(|()| work(&batch));
        let Err(fault) = reward.engine().check_since(began) else { return done };
        reward.golds.clear();
        match done {
            Err(RewardError::Engine(EngineError::Stopped)) => done,
            _ => Err(fault.into()),
        }
    }

    /// Opens the databases, and runs the golds.
    fn open(&mut self, pairs: &BTreeSet<(&'a str, &'a str)>) -> Result<(), RewardError> {
        let pairs: Vec<(&str, &str)> = pairs.iter().copied().collect();
        let mut db_ids: Vec<&str> = pairs.iter().map(|(db_id, _)| *db_id).collect();
        db_ids.dedup();
        let open = |at: usize, _: &Lanes| self.reward.subject(db_ids[at]);
        let subjects = self.in_lanes(db_ids.len(), open, |at| db_ids[at])?;
        self.subjects = db_ids.into_iter().zip(subjects).collect();
        let golds = self.in_lanes(pairs.len(), |at, lanes| self.gold(pairs[at], lanes), |at| pairs[at].1)?;
        self.golds = pairs.into_iter().zip(golds).collect();
        Ok(())
    }

    fn gold(&self, (db_id, text): (&str, &str), lanes: &Lanes) -> Result<GoldQuestion, RewardError> {
        self.check_stop()?;
        let subject = &self.subjects[db_id];
        let gold = self.gold_of(subject, text, lanes)?;
        let question = self.reward.witnesses.as_ref().map(|all| all.question(&gold, subject));
        if let Some(question) = &question {
            question.refresh()?;
        }
        Ok(GoldQuestion { gold, question })
    }

    fn gold_of(&self, subject: &Subject, text: &str, lanes: &Lanes) -> Result<Arc<Gold>, RewardError> {
        let reward = self.reward;
        let place = (subject.target.db_id.clone(), text.to_owned());
        if let Some(gold) = reward.golds.get(&place, |gold| gold.bytes()) {
            return Ok(gold);
        }
        let began = reward.engine().faults();
        let engine = Answering::new(&reward.runner, lanes, self.stop);
        let is_run = reward.options.kind != RewardKind::Structure;
        let gold = Arc::new(Gold::of((text, reward.key(text)), subject, &engine, is_run));
        if let Some(failure) = gold.broken_file() {
            return Err(RewardError::Database { db_id: place.0, message: failure.message.clone() });
        }
        // A gold that ran out of time may have more of it when less runs beside it, and one that was stopped has no outcome.
        let is_settled =
            gold.failure().is_none_or(|failure| Code::of_failure(failure.kind) != Some(Code::Timeout));
        if is_settled && self.is_sound_since(began) {
            reward.golds.insert(place, Arc::clone(&gold), gold.bytes());
        }
        Ok(gold)
    }

    fn score(&self, requests: &[Request]) -> Result<Vec<RewardResult>, RewardError> {
        let jobs = self.jobs(requests);
        let judged =
            self.in_lanes(jobs.len(), |at, lanes| self.judge(&jobs[at], lanes), |at| jobs[at].sql.as_str())?;
        self.check()?;
        self.grow(&jobs, &judged)?;
        let mut results: Vec<Option<RewardResult>> = vec![None; requests.len()];
        for (job, judged) in jobs.iter().zip(judged) {
            for ((_, places), judged) in job.members.iter().zip(judged) {
                places.iter().for_each(|&place| results[place] = Some(judged.result.clone()));
            }
        }
        // Every request is a member of one job.
        Ok(results.into_iter().flatten().collect())
    }

    fn prepare(&self, pairs: &BTreeSet<(&str, &str)>) -> Result<Growth, RewardError> {
        let pairs: Vec<(&str, &str)> = pairs.iter().copied().collect();
        let work = |at: usize, _: &Lanes| {
            let item = &self.golds[&pairs[at]];
            let question = item.question.as_ref().filter(|_| item.gold.rows().is_some());
            question.map(|question| question.witnesses(&item.gold, &self.subjects[pairs[at].0])).transpose()
        };
        let all = self.in_lanes(pairs.len(), work, |at| pairs[at].1)?;
        self.check()?;
        let mut growth = Growth { questions: pairs.len(), ..Growth::default() };
        for (place, witnesses) in pairs.iter().zip(all) {
            let gold = place.1.to_owned();
            if self.golds[place].gold.failure().is_some() {
                growth.failed.push(gold.clone());
            }
            let Some(witnesses) = witnesses else { continue };
            growth.witnesses += witnesses.list.len();
            growth.none.extend(witnesses.none.clone().map(|reason| (gold, reason)));
        }
        Ok(growth)
    }

    /// The distinct answers of a batch.
    fn jobs<'j>(&'j self, requests: &[Request]) -> Vec<Job<'j>> {
        let mut jobs: Vec<Job<'j>> = Vec::new();
        let mut by_key: HashMap<(&str, String), usize> = HashMap::new();
        let mut by_golds: HashMap<(usize, &[String]), usize> = HashMap::new();
        for (place, request) in requests.iter().enumerate() {
            let db_id = request.db_id.as_str();
            let sql = if self.reward.options.extract {
                extract_sql(&request.prediction).sql
            } else {
                request.prediction.clone()
            };
            let key = self.reward.key(&sql);
            let job = *by_key.entry((db_id, key.clone())).or_insert_with(|| {
                jobs.push(Job { subject: &self.subjects[db_id], sql, key, members: Vec::new() });
                jobs.len() - 1
            });
            let members = &mut jobs[job].members;
            let member = *by_golds.entry((job, request.golds.as_slice())).or_insert_with(|| {
                let of = |gold: &String| self.golds[&(db_id, gold.as_str())].clone();
                members.push((request.golds.iter().map(of).collect(), Vec::new()));
                members.len() - 1
            });
            members[member].1.push(place);
        }
        jobs
    }

    /// Does work on threads; `text` says at which text a defect showed.
    fn in_lanes<'t, T: Send>(
        &self,
        count: usize,
        work: impl Fn(usize, &Lanes) -> Result<T, RewardError> + Sync,
        text: impl Fn(usize) -> &'t str,
    ) -> Result<Vec<T>, RewardError> {
        let options = &self.reward.options;
        let done = Lanes::run(options.cores(), options.processes(), count, work)
            .map_err(|NoThread(error)| RewardError::Thread(error))?;
        let results = done.into_iter().enumerate().map(|(at, result)| {
            let answer = || text(at).chars().take(QUOTED).collect();
            let defect = |Panicked(message)| Err(RewardError::Defect { message, answer: answer() });
            result.unwrap_or_else(defect)
        });
        results.collect()
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn check_stop(&self) -> Result<(), RewardError> {
        if self.is_stopped() { Err(EngineError::Stopped.into()) } else { Ok(()) }
    }

    /// Whether an outcome since then may be remembered.
    fn is_sound_since(&self, began: FaultCount) -> bool {
        !self.is_stopped() && self.reward.engine().check_since(began).is_ok()
    }

    /// Whether the machinery was sound all the while.
    fn check(&self) -> Result<(), RewardError> {
        self.check_stop()?;
        self.reward.engine().check_since(self.began)?;
        // Checked after the query: rows of a file that was replaced do not count.
        self.subjects.values().try_for_each(|subject| subject.target.database.check_unchanged())?;
        Ok(())
    }

    /// All members of a job, for which the answer runs once.
    fn judge(&self, job: &Job<'_>, lanes: &Lanes) -> Result<Vec<MemberResult>, RewardError> {
        self.check_stop()?;
        let engine = Answering::new(&self.reward.runner, lanes, self.stop);
        let (subject, sql, key) = (&**job.subject, job.sql.as_str(), job.key.as_str());
        let case = Case { options: &self.reward.options, subject, engine: &engine, sql, key };
        job.members.iter().map(|(golds, _)| self.judge_member(&case, golds)).collect()
    }

    fn judge_member(&self, case: &Case<'_>, golds: &[GoldQuestion]) -> Result<MemberResult, RewardError> {
        let reward = self.reward;
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
        let fingerprints = worths
            .iter()
            .map(|worth| worth.answer.witnesses.as_ref().map(|witnesses| witnesses.fingerprint()));
        let fingerprints: Vec<Option<String>> = fingerprints.collect();
        let (at, worth) = best(worths);
        let Worth { value, answer } = worth;
        let result =
            RewardResult { witness: answer.witness, ..RewardResult::new(value, answer.code, answer.reason) };
        let is_settled = result.code != Code::Timeout && result.code != Code::GoldFailed;
        if is_settled && self.is_sound_since(began) {
            let fingerprints = fingerprints.iter().any(Option::is_some).then_some(fingerprints);
            let remembered = Arc::new(Remembered { result: result.clone(), fingerprints });
            let bytes = size(&remembered);
            reward.answers.insert(place, remembered, bytes);
        }
        let is_wrong = result.code == Code::Wrong;
        Ok(MemberResult { result, new: answer.new.map(|witness| (at, witness)), is_wrong })
    }

    /// Keeps the witnesses that a batch has found, and makes some of its wrong answers, in the order of the batch.
    fn grow(&self, jobs: &[Job<'_>], judged: &[Vec<MemberResult>]) -> Result<(), RewardError> {
        if self.reward.witnesses.is_none() {
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
        wrong.truncate(self.reward.options.growth);
        let witnesses = self.in_lanes(
            wrong.len(),
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
