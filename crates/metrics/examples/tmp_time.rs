//! tmp
use sqlgauge_engine::*;
use sqlgauge_metrics::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let sp = "/work/shared/data/spider";
    let engine = SqliteEngine::new(Limits::default());
    let mut ts: HashMap<String, Arc<Target>> = HashMap::new();
    let golds: Vec<(String, Arc<Target>)> = std::fs::read_to_string(format!("{sp}/dev_gold.sql"))
        .unwrap()
        .lines()
        .map(|l| {
            let (g, d) = l.trim().split_once('\t').unwrap();
            let t = ts
                .entry(d.into())
                .or_insert_with(|| {
                    Arc::new(Target::new(
                        d,
                        engine.open(format!("{sp}/database/{d}/{d}.sqlite").as_ref()).unwrap(),
                    ))
                })
                .clone();
            (g.to_owned(), t)
        })
        .collect();
    for sys in &a[2..] {
        let p = std::fs::read(format!("{sp}/predictions/dev/{sys}.sql")).unwrap();
        let p = String::from_utf8_lossy(&p).into_owned();
        let mut g1 = 0.;
        let mut p1 = 0.;
        let mut cells = 0;
        let t = Instant::now();
        for (i, (g, t)) in golds.iter().enumerate() {
            let e = engine.run(&t.database, g);
            g1 += e.elapsed.as_secs_f64();
            let e2 = engine.run(&t.database, p.split('\n').nth(i).unwrap());
            p1 += e2.elapsed.as_secs_f64();
            cells += e.rows().map_or(0, |r| r.values().len());
        }
        println!(
            "raw run: gold {:.0} ms pred {:.0} ms wall {:?} gold cells {cells}",
            g1 * 1e3,
            p1 * 1e3,
            t.elapsed()
        );
        let t = Instant::now();
        for d in ts.values() {
            d.database.content_hash().unwrap();
        }
        println!("hash {:?}", t.elapsed());
        let ids: Vec<&str> = a[1].split(',').collect();
        let preds: Vec<&str> = p.split('\n').collect();
        let cache = GoldCache::new(64 << 20);
        let t0 = Instant::now();
        let mut per = vec![0f64; ids.len()];
        let mut sums = vec![0f64; ids.len()];
        for (i, (g, t)) in golds.iter().enumerate() {
            let pair = Pair::new(&engine, t, g, preds[i], Some(&cache));
            let s = Instant::now();
            for (k, id) in ids.iter().enumerate() {
                let s = Instant::now();
                let sc = find(id).unwrap().score(&pair);
                per[k] += s.elapsed().as_secs_f64();
                sums[k] += sc.value.unwrap_or(0.);
            }
            if s.elapsed().as_secs_f64() > 0.3 {
                println!("{sys} {i} {:?} {}", s.elapsed(), &preds[i].chars().take(200).collect::<String>());
            }
        }
        println!("{sys} total {:?}", t0.elapsed());
        for (k, id) in ids.iter().enumerate() {
            println!("   {id}: {:.1} ms, {:.1}", per[k] * 1e3, sums[k] / 10.34);
        }
    }
}
