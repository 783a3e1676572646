//! A plan of labels is answered on its page as by `sqlgauge label`.

use sqlgauge_core::LabelPlanJob;

use super::*;

pub(super) fn plan(folder: &Folder, name: &str) -> String {
    let sample = &folder.sample;
    let system = |name: &str| System::new(name, sample.predictions_of(name).unwrap());
    let out = folder.path("runs").join(name);
    let job = LabelPlanJob::new(sample.questions.as_path(), vec![system("careful")], &sample.databases, out);
    LabelPlanJob { against: Some(system("baseline")), width: 0.1, ..job }.run(&Context::default()).unwrap();
    name.to_owned()
}

fn json_of(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn a_plan_is_answered_until_its_number_is_sure() {
    let folder = Folder::new();
    plan(&folder, "planned");
    let asker = Asker::of(folder.options());
    let plans = json_of(&asker.get("/api/records"))["plans"].clone();
    let id = plans[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(plans[0]["name"], "planned/plan.json");
    let of = || json_of(&asker.get(&format!("/api/plan?id={id}")));
    let judge = |question: &str, verdict: &str| {
        asker.post("/api/judge", &json!({"plan": id, "id": question, "verdict": [verdict]}))
    };
    let first = of();
    let question = first["question"]["id"].as_str().unwrap().to_owned();
    assert_eq!(first["question"]["results"].as_array().unwrap().len(), 2, "{first}");
    assert!(first["question"]["results"][0]["rows"]["columns"].is_array(), "{first}");
    assert!(first["sentence"].as_str().unwrap().starts_with("Not sure yet after 0 labels"), "{first}");
    for (id, verdict, part) in
        [(&*question, "perhaps", "is not a verdict"), ("nowhere-1", "right", "no question")]
    {
        let refusal = judge(id, verdict);
        assert!(refusal.status == 422 && refusal.body.contains(part), "{}", refusal.body);
    }
    // A second verdict of the same person takes the place of the first.
    for verdict in ["careful", "baseline"] {
        assert_eq!(judge(&question, verdict).status, 204);
    }
    let labels = std::fs::read_to_string(folder.path("runs/planned/labels.jsonl")).unwrap();
    let rows: Vec<Value> = labels.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdict_of = |system: &str| {
        let row = rows.iter().find(|row| row["system"] == system && row["by"] == "somebody").unwrap();
        row["verdict"].as_str().unwrap()
    };
    assert_eq!(
        (rows.len(), verdict_of("careful"), verdict_of("baseline")),
        (2, "wrong", "right"),
        "{labels}"
    );
    let mut left = of();
    for _ in 0..60 {
        let Some(next) = left["question"]["id"].as_str().map(str::to_owned) else { break };
        assert_ne!(next, question, "it has its label");
        assert_eq!(judge(&next, "careful").status, 204);
        left = of();
    }
    assert_eq!(
        (left["question"].is_null(), left["standings"]["enough"].as_bool()),
        (true, Some(true)),
        "{left}"
    );
    assert!(left["sentence"].as_str().unwrap().contains("Enough to stop"), "{left}");
}

#[test]
fn a_plan_that_cannot_be_read_says_so_and_hides_no_other() {
    let folder = Folder::new();
    plan(&folder, "planned");
    let damaged = folder.path("runs").join("bad");
    std::fs::create_dir(&damaged).unwrap();
    std::fs::write(damaged.join("plan.json"), "{\"format\":").unwrap();
    let asker = Asker::of(folder.options());
    let plans = json_of(&asker.get("/api/records"))["plans"].clone();
    let id = |name: &str| {
        let of = plans.as_array().unwrap().iter().find(|plan| plan["name"] == name).unwrap();
        of["id"].as_str().unwrap().to_owned()
    };
    let refusal = asker.get(&format!("/api/plan?id={}", id("bad/plan.json")));
    assert!(refusal.status == 422 && refusal.body.contains("plan.json"), "{}", refusal.body);
    assert_eq!(asker.get("/api/plan?id=0").status, 404);
    // Answers are shown without rows where a database has changed since.
    let database = std::fs::read_dir(&folder.sample.databases).unwrap();
    for entry in database.map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
        std::fs::write(entry.join(format!("{name}.sqlite")), "").unwrap();
    }
    let left = json_of(&asker.get(&format!("/api/plan?id={}", id("planned/plan.json"))));
    assert!(left["notes"][0].as_str().unwrap().contains("has changed since the plan"), "{left}");
    assert!(left["question"]["results"][0]["rows"].is_null(), "{left}");
}
