#!/usr/bin/env bash
# Scores, reports, audits and compares, as the variables say that action.yml names. Everything is written before the job
# fails: 1 where a bar was not reached, 2 where something is wrong with the input.
set -uo pipefail

code=0
# Keeps the worst exit code; the reports are written all the same.
keep() { if [ "$1" -gt "$code" ]; then code=$1; fi; }
# The lines of a text, without empty ones, into the array `list`.
lines() { mapfile -t list < <(printf '%s\n' "$1" | sed '/^[[:space:]]*$/d'); }

summary=$OUT/summary.md
score=(score --gold "$GOLD" --db "$DB" --out "$OUT" --quiet)
# shellcheck disable=SC2153 # a variable of the action
lines "$PRED"
for pred in "${list[@]}"; do score+=(--pred "$pred"); done
if [ -n "${METRICS:-}" ]; then score+=(--metrics "$METRICS"); fi
lines "${ARGS:-}"
score+=("${list[@]}")
bars=()
lines "${FAIL_UNDER:-}"
for bar in "${list[@]}"; do bars+=(--fail-under "$bar"); done

sqlgauge "${score[@]}"
keep $?
if [ "$code" -ge 2 ]; then
    echo '::error::the predictions were not scored; the reason stands above'
    exit "$code"
fi
: > "$summary"
if [ -n "${BASELINE:-}" ] && [ -f "$BASELINE/run.json" ]; then
    compare=(compare "$BASELINE" "$OUT" --items 5)
    if [ -n "${METRIC:-}" ]; then compare+=(--metric "$METRIC"); fi
    if [ -n "${MAX_DROP:-}" ]; then compare+=(--max-regression "$MAX_DROP"); fi
    compared=$(COLUMNS=110 sqlgauge "${compare[@]}")
    keep $?
    # A fence longer than any in the text, so that a query cannot end it.
    fence=$(printf '%s\n' "$compared" | grep -o '`\+' | sort | tail -n 1)'```'
    printf '## Against the baseline\n%stext\n%s\n%s\n\n' "$fence" "$compared" "$fence" > "$summary"
elif [ -n "${BASELINE:-}" ]; then
    printf 'There is no run at the baseline, so nothing was compared.\n\n' > "$summary"
fi

sqlgauge report "$OUT" --output-format markdown --out - >> "$summary"
sqlgauge report "$OUT" --output-format html > /dev/null
junit=(report "$OUT" --output-format junit)
# Without a bar there is no test case.
if [ "${#bars[@]}" -eq 0 ]; then junit+=(--junit-items); fi
sqlgauge "${junit[@]}" "${bars[@]}" > /dev/null
keep $?

if [ "${AUDIT:-false}" = true ]; then
    audit=(audit --gold "$GOLD" --db "$DB" --output-format sarif --out "$OUT/sqlgauge.sarif" --quiet)
    if [ -n "${AUDIT_FAIL_ON:-}" ]; then audit+=(--fail-on "$AUDIT_FAIL_ON"); fi
    sqlgauge "${audit[@]}"
    keep $?
    echo "sarif=$OUT/sqlgauge.sarif" >> "$GITHUB_OUTPUT"
fi

cat "$summary" >> "$GITHUB_STEP_SUMMARY"
echo "run=$OUT" >> "$GITHUB_OUTPUT"
if [ "$code" -eq 1 ]; then echo '::error::a bar was not reached; the summary says which'; fi
exit "$code"
