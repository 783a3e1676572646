#!/usr/bin/env bash
# Writes the summary of a run into a comment of the pull request: the one that it wrote before, or a new one. Needs gh.
set -euo pipefail

marker='<!-- sqlgauge -->'
comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
body=$(mktemp)
trap 'rm -f "$body"' EXIT
# A comment holds 65,536 characters.
{ echo "$marker"; head -c 60000 "$OUT/summary.md"; } > "$body"
filter=".[] | select(.body | startswith(\"$marker\")) | select(.user.type == \"Bot\") | .id"
known=$(gh api --paginate "$comments" --jq "$filter" | head -n 1)
if [ -n "$known" ]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$body" > /dev/null
else
    gh api --method POST "$comments" --field "body=@$body" > /dev/null
fi
