//! `html`: one file that needs no network, no server and no script; a sibling of the score report in look.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    reason = "a page is written once; what reads best wins"
)]

use super::drift::{Gravity, Series};
use super::words::{
    self, against_known, claim, descriptor, descriptor_meaning, level, many, optional, outside, percent,
    points, signal_meaning, status,
};
use super::{Answer, EstimatePart, LISTED_PREDICTIONS, Reliability, SystemEstimate};
use sqlgauge_report::charts::{DriftMark, drift_chart, escape, interval_bar};
use sqlgauge_report::layout::lines;
use sqlgauge_report::page::{Page, provenance, section, table};
use sqlgauge_report::token::{DisplayTokenKind, tokens};
use sqlgauge_report::words::capital;

const OWN_STYLE: &str = include_str!("../../web/reliability.css");
/// Characters of a prediction that are shown; some are megabytes of repetition.
const MAX_SQL: usize = 3_000;
/// Characters of a question that are shown.
const MAX_QUESTION: usize = 1_500;
/// Alarms and warnings that are listed per system.
const MAX_ALARMS: usize = 40;

/// The report as one self-contained HTML file.
pub fn html(report: &Reliability) -> String {
    Page {
        title: heading(report),
        nav: nav(report),
        body: body(report),
        tool_version: &report.manifest.tool_version,
    }
    .html(OWN_STYLE)
}

fn heading(report: &Reliability) -> String {
    match report.estimates.as_slice() {
        [] => "No estimate".to_owned(),
        [one] => format!("{}: {} %", one.system, percent(one.accuracy)),
        several => format!("Estimated accuracy of {}", many(several.len(), "system")),
    }
}

fn nav(report: &Reliability) -> Vec<(String, String)> {
    let mut links = Vec::new();
    if report.estimates.len() > 1 {
        links.push(("ranking".to_owned(), "Ranking".to_owned()));
    }
    if !report.drift.is_empty() {
        links.push(("drift".to_owned(), "Drift".to_owned()));
    }
    match report.estimates.as_slice() {
        [_] => {
            for (id, name) in
                [("signals", "Signals"), ("databases", "Databases"), ("doubtful", "Most likely wrong")]
            {
                links.push((format!("{id}-0"), name.to_owned()));
            }
        }
        several if several.len() <= 4 => {
            links.extend(
                several.iter().enumerate().map(|(at, one)| (format!("system-{at}"), one.system.clone())),
            );
        }
        _ => {}
    }
    links.push(("run".to_owned(), "How it was run".to_owned()));
    links
}

fn body(report: &Reliability) -> String {
    let databases = report.estimates.first().map_or(0, |estimate| estimate.by_database.len());
    let mut text = format!("<h1>{}</h1>\n", escape(&heading(report)));
    text.push_str(&format!(
        "<p class=\"facts\">Estimated without labels: {} on {} of {}.</p>\n",
        many(report.manifest.examples, "question"),
        many(databases, "database"),
        escape(&report.target)
    ));
    let single = report.estimates.len() == 1;
    if report.estimates.is_empty() {
        text.push_str("<p class=\"empty\">There is nothing to show.</p>\n");
    }
    if !single {
        text.push_str(&ranking(report));
    }
    if !single {
        text.push_str(&drift(report));
    }
    for (at, estimate) in report.estimates.iter().enumerate() {
        text.push_str(&system(estimate, at, single));
        if single {
            text.push_str(&drift(report));
        }
    }
    text.push_str(&provenance(&report.manifest));
    text
}

fn ranking(report: &Reliability) -> String {
    let Some(first) = report.estimates.first() else { return String::new() };
    let share = |value: f64| if value.is_finite() { 100.0 * value.clamp(0.0, 1.0) } else { 0.0 };
    let grid: String =
        [0, 25, 50, 75, 100].map(|tick| format!("<i class=\"grid\" style=\"left:{tick}%\"></i>")).concat();
    let rows: String = report
        .ranked()
        .into_iter()
        .enumerate()
        .map(|(rank, estimate)| {
            let at = report.estimates.iter().position(|other| std::ptr::eq(other, estimate)).unwrap_or(0);
            let (low, high) = (share(estimate.interval.low), share(estimate.interval.high));
            format!(
                "<tr><td class=\"soft sec\">{}</td><th scope=\"row\" class=\"name\"><a href=\"#system-{at}\">{}</a></th>\
                 <td class=\"num best\">{}<span class=\"sub\">{} – {}</span></td>\
                 <td class=\"plotcell\"><div class=\"plot\" aria-hidden=\"true\">{grid}<i class=\"whisker\" style=\"left:{low:.2}%;width:{:.2}%\"></i>\
                 <i class=\"dot full\" style=\"left:{:.2}%\"></i></div></td><td class=\"num soft\">{}</td><td>{}</td><td class=\"soft sec\">{}</td></tr>\n",
                rank + 1,
                escape(&estimate.system),
                percent(estimate.accuracy),
                percent(estimate.interval.low),
                percent(estimate.interval.high),
                (high - low).max(0.0),
                share(estimate.accuracy),
                optional(estimate.known_accuracy()),
                badge(estimate),
                escape(&estimate.method)
            )
        })
        .collect();
    let axis: String =
        [0, 25, 50, 75, 100].map(|tick| format!("<span style=\"left:{tick}%\">{tick}</span>")).concat();
    let header = format!(
        "<thead><tr><th class=\"sec\"></th><th scope=\"col\">System</th><th scope=\"col\" class=\"num\">Estimate, %<span class=\"sub\">{} interval</span></th>\
         <th class=\"plotcell\"><div class=\"axis\" aria-hidden=\"true\">{axis}</div></th><th scope=\"col\" class=\"num\">Known runs</th><th scope=\"col\">Labels</th><th scope=\"col\" class=\"sec\">Method</th></tr></thead>",
        level(first)
    );
    let content = format!(
        "<div class=\"scroll\"><table>{header}<tbody>{rows}</tbody></table></div>\n\
         <p class=\"note\">Estimates of systems on the same questions share most of their error: an order can be surer than overlapping intervals suggest. \
         “Known runs”: the share that is right of the system's own labelled answers.</p>\n"
    );
    section("ranking", "Ranking", "highest estimate first", &content)
}

fn badge(estimate: &SystemEstimate) -> &'static str {
    if estimate.outside {
        "<span class=\"badge out\">outside</span>"
    } else {
        "<span class=\"badge in\">inside</span>"
    }
}

fn drift(report: &Reliability) -> String {
    let mut content = String::new();
    for series in &report.drift {
        if report.drift.len() > 1 {
            content.push_str(&format!("<h3>{}</h3>\n", escape(&series.system)));
        }
        let marks: Vec<DriftMark> = series.points.iter().map(|point| mark(series, point)).collect();
        content.push_str(&format!(
            "<figure class=\"chart\">{}</figure>\n{}",
            drift_chart("estimated accuracy by batch", &marks, report.alarm_below),
            alarms(series)
        ));
    }
    if content.is_empty() {
        content
    } else {
        section("drift", "Drift", "estimate with interval by batch; percent", &content)
    }
}

fn mark(series: &Series, point: &super::drift::DriftPoint) -> DriftMark {
    DriftMark {
        label: point.label.clone(),
        accuracy: point.accuracy,
        low: point.low,
        high: point.high,
        alarmed: series.rings_at(&point.label),
    }
}

fn alarms(series: &Series) -> String {
    if series.alarms.is_empty() {
        return "<p class=\"note\">No alarm and no warning.</p>\n".to_owned();
    }
    let list: String = series
        .alarms
        .iter()
        .take(MAX_ALARMS)
        .map(|alarm| {
            let badge = match alarm.gravity {
                Gravity::Alarm => "<span class=\"badge alarm\">alarm</span>",
                Gravity::Warning => "<span class=\"badge\">warning</span>",
            };
            format!("<li>{badge}{}: {}</li>", escape(&alarm.label), escape(&alarm.message))
        })
        .collect();
    let left = series.alarms.len().saturating_sub(MAX_ALARMS);
    let more = if left > 0 { format!("<li class=\"soft\">and {left} more</li>") } else { String::new() };
    format!("<ul class=\"alarms\">{list}{more}</ul>\n")
}

fn system(estimate: &SystemEstimate, at: usize, single: bool) -> String {
    let mut text = format!("<article class=\"estimate\" id=\"system-{at}\">\n");
    if !single {
        text.push_str(&format!(
            "<section><h2 class=\"system\">{}: {} %</h2></section>\n",
            escape(&estimate.system),
            percent(estimate.accuracy)
        ));
    }
    let sentence = against_known(estimate).map(|sentence| format!(" {sentence}")).unwrap_or_default();
    text.push_str(&format!("<p class=\"lead\">{}{sentence}</p>\n", escape(&claim(estimate))));
    let interval = (estimate.interval.low, estimate.interval.high);
    let bar = interval_bar(estimate.accuracy, interval, estimate.known_accuracy());
    text.push_str(&format!("<div class=\"gauge\">{bar}</div>\n"));
    let standing = outside(estimate);
    let (word, rest) = standing.split_once(':').unwrap_or(("", ""));
    text.push_str(&format!(
        "<p class=\"callout{}\"><b>{word}.</b> {} Method: <code>{}</code>.</p>\n",
        if estimate.outside { " outside" } else { "" },
        escape(&capital(rest.trim())),
        escape(&estimate.method)
    ));
    text.push_str(&signals(estimate, at));
    text.push_str(&parts(
        &format!("databases-{at}"),
        "By database",
        "Database",
        &estimate.by_database,
        "“Pull”: how many points of the difference from the known runs come from here; the pulls of all databases add up to it.",
    ));
    text.push_str(&parts(
        &format!("kinds-{at}"),
        "By kind of question",
        "Kind",
        &estimate.by_kind,
        "By the structure of the prediction. A question may be of several kinds, so these pulls do not add up.",
    ));
    text.push_str(&shift(estimate));
    text.push_str(&notes(estimate));
    text.push_str(&doubtful(estimate, at, single));
    text.push_str("</article>\n");
    text
}

fn signals(estimate: &SystemEstimate, at: usize) -> String {
    if estimate.signals.is_empty() {
        return String::new();
    }
    let rows: String = estimate
        .signals
        .iter()
        .map(|signal| {
            format!(
                "<tr><th scope=\"row\">{}</th><td class=\"meaning\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num best\">{}</td></tr>\n",
                escape(&signal.name),
                signal_meaning(&signal.name),
                optional(signal.known),
                optional(signal.target),
                points(signal.effect)
            )
        })
        .collect();
    let header = [
        ("", "Signal"),
        ("meaning", "What it is"),
        ("num", "Its labelled answers, %"),
        ("num", "Target, %"),
        ("num", "Effect, points"),
    ];
    section(&format!("signals-{at}"), "What the estimate follows from", "", &table("", &header, &rows))
}

fn parts(id: &str, title: &str, what: &str, parts: &[EstimatePart], note: &str) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let listed = words::sorted(parts);
    let pulls = listed.iter().filter_map(|part| part.pull).filter(|pull| pull.is_finite());
    let most = pulls.fold(0.0, |most: f64, pull| most.max(pull.abs()));
    let has_pull = listed.iter().any(|part| part.pull.is_some());
    let falls_only = listed.iter().all(|part| part.pull.unwrap_or(0.0) <= 0.0);
    let rows: String = listed
        .iter()
        .map(|part| {
            let pull = if has_pull {
                format!("<td class=\"pullcell\">{}</td><td class=\"num\">{}</td>", pull_bar(part.pull, most, falls_only), points(part.pull))
            } else {
                String::new()
            };
            format!(
                "<tr><th scope=\"row\" class=\"name\">{}</th><td class=\"num soft\">{}</td><td class=\"num best\">{}</td><td class=\"num\">{}</td>{pull}</tr>\n",
                escape(&part.name),
                part.count,
                percent(part.accuracy),
                percent(part.runs)
            )
        })
        .collect();
    let mut header = vec![("", what), ("num", "Questions"), ("num", "Estimate, %"), ("num", "Runs, %")];
    if has_pull {
        header.extend([("pullcell", ""), ("num", "Pull, points")]);
    }
    let note = if has_pull { format!("<p class=\"note\">{}</p>\n", escape(note)) } else { String::new() };
    section(id, title, "", &format!("{}{note}", table("parts", &header, &rows)))
}

fn pull_bar(pull: Option<f64>, most: f64, falls_only: bool) -> String {
    let side = if falls_only { " one" } else { "" };
    let pull = pull.filter(|pull| pull.is_finite()).unwrap_or(0.0);
    let width = if most > 0.0 { 100.0 * pull.abs() / most } else { 0.0 };
    let (left, right) = if pull < 0.0 { (width, 0.0) } else { (0.0, width) };
    format!(
        "<div class=\"pull{side}\" aria-hidden=\"true\"><div class=\"l\"><i style=\"width:{left:.1}%\"></i></div><div class=\"r\"><i style=\"width:{right:.1}%\"></i></div></div>"
    )
}

fn shift(estimate: &SystemEstimate) -> String {
    if estimate.descriptors.is_empty() {
        return String::new();
    }
    let rows: String = estimate
        .descriptors
        .iter()
        .map(|(name, value)| {
            format!(
                "<tr><th scope=\"row\" class=\"mono\">{}</th><td class=\"meaning\">{}</td><td class=\"num\">{}</td></tr>\n",
                escape(name),
                descriptor_meaning(name),
                descriptor(*value)
            )
        })
        .collect();
    let header = [("", "Descriptor"), ("meaning", "What it is"), ("num", "Value")];
    format!(
        "<details><summary><h2>Shift</h2>how far the target lies from the labelled answers</summary>\n{}</details>\n",
        table("", &header, &rows)
    )
}

fn notes(estimate: &SystemEstimate) -> String {
    if estimate.notes.is_empty() {
        return String::new();
    }
    let list: String =
        estimate.notes.iter().map(|note| format!("<li>{}</li>", escape(&capital(note)))).collect();
    format!("<section><div class=\"head\"><h2>Notes</h2></div><ul class=\"notes\">{list}</ul></section>\n")
}

fn doubtful(estimate: &SystemEstimate, at: usize, open: bool) -> String {
    let listed = estimate.most_doubtful(LISTED_PREDICTIONS);
    if listed.is_empty() {
        return String::new();
    }
    let list: String = listed.into_iter().map(answer).collect();
    let note = format!(
        "{} of {}, least probable first; all are in predictions.jsonl",
        estimate.items.len().min(LISTED_PREDICTIONS),
        many(estimate.items.len(), "prediction")
    );
    format!(
        "<details id=\"doubtful-{at}\"{}><summary><h2>Most likely wrong</h2>{note}</summary>\n<ol class=\"doubtful\">{list}</ol></details>\n",
        if open { " open=\"\"" } else { "" }
    )
}

fn answer(answer: &Answer) -> String {
    let reasons: String = if answer.reasons.is_empty() {
        String::new()
    } else {
        let list: String =
            answer.reasons.iter().map(|reason| format!("<li>{}</li>", escape(reason))).collect();
        format!("<ul class=\"why\">{list}</ul>")
    };
    let question = if answer.question.trim().is_empty() { "(no question)" } else { &answer.question };
    let prediction = if answer.prediction.trim().is_empty() {
        "<p class=\"soft\">(no prediction)</p>".to_owned()
    } else {
        sql(&answer.prediction)
    };
    format!(
        "<li><div><span class=\"sub\"><span class=\"chance\">{} %</span> · {} · {} · {}</span><p class=\"asked\">{}</p>{reasons}</div><div>{prediction}</div></li>\n",
        percent(answer.probability),
        escape(&answer.id),
        escape(&answer.db_id),
        escape(&status(&answer.status)),
        escape(&clip(question, MAX_QUESTION))
    )
}

fn clip(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}

/// A query laid out by clause, with the classes of the score report.
fn sql(text: &str) -> String {
    let text = clip(text, MAX_SQL);
    let tokens = tokens(&text);
    let mut markup = String::from("<pre class=\"sql\">");
    for line in lines(&tokens) {
        markup.push_str(&format!("<span class=\"ln\" style=\"--d:{}\">", line.indent));
        for (at, space) in line.tokens {
            if space {
                markup.push(' ');
            }
            let token = tokens[at];
            let class = match token.kind {
                DisplayTokenKind::Keyword => "kw",
                DisplayTokenKind::Text => "str",
                DisplayTokenKind::Number => "nu",
                DisplayTokenKind::Comment => "com",
                _ => "",
            };
            if class.is_empty() {
                markup.push_str(&escape(token.text));
            } else {
                markup.push_str(&format!("<span class=\"{class}\">{}</span>", escape(token.text)));
            }
        }
        markup.push_str("</span>");
    }
    markup.push_str("</pre>");
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_laid_out_and_escaped() {
        assert_eq!(
            sql("SELECT a FROM t WHERE b < '<i>'"),
            "<pre class=\"sql\"><span class=\"ln\" style=\"--d:0\"><span class=\"kw\">SELECT</span> a</span>\
             <span class=\"ln\" style=\"--d:0\"><span class=\"kw\">FROM</span> t</span>\
             <span class=\"ln\" style=\"--d:0\"><span class=\"kw\">WHERE</span> b &lt; <span class=\"str\">&#39;&lt;i&gt;&#39;</span></span></pre>"
        );
    }
}
