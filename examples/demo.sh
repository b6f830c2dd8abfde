#!/usr/bin/env bash
# A guided tour of evalcase, run by `make demo`. It changes nothing in the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
examples=$PWD

if [[ -t 1 && -z "${NO_COLOR:-}" && "${TERM:-dumb}" != dumb ]]; then
    bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m' pause=${DEMO_PAUSE_S:-1.5}
else
    bold='' dim='' plain='' pause=0
fi

copy=$(mktemp -d)
page=$(mktemp -d)/report.html
trap 'rm -rf "$copy"' EXIT

heading() {
    printf '%s%s%s\n%s\n\n' "$bold" "$1" "$plain" "$2"
    sleep "$pause"
}

# Shows a command and runs it; the first argument is the exit code it should have.
run() {
    local expected=$1 status=0
    shift
    local argument shown=''
    for argument in "$@"; do
        [[ $argument == *' '* ]] && argument="'$argument'"
        shown+=" $argument"
    done
    printf '%s$%s%s\n' "$dim" "$shown" "$plain"
    "$@" || status=$?
    if ((status != expected)); then
        echo "demo: exit code $status, where $expected was expected" >&2
        exit 1
    fi
    echo
    sleep "$pause"
}

# Changes one line of a file, as a person would in an editor.
edit() {
    local file=$1 before=$2 after=$3
    printf '%s# %s: %s becomes %s%s\n\n' "$dim" "$file" "$before" "$after" "$plain"
    sed -i.bak "s/$before/$after/" "$file"
    sleep "$pause"
}

cp -R "$examples/07-an-agent" "$copy/shop"
cd "$copy/shop"
rm -rf .evalcase README.md

heading '1. A run, offline' \
    'Six cases for a small agent with tools. Rules stand in for a model.'
run 0 head -n 26 shop.eval.yaml
run 3 evalcase run
echo 'Three outcomes, and they are never mixed:'
echo '  passed    the answer is what was expected'
echo '  failed    the agent answered something else'
echo '  errored   the agent broke, so there is no answer to judge'
echo 'The exit code was 3, for the error. For the failure alone it would be 1.'
echo

heading '2. The agent is fixed' \
    'It did not know what a lamp weighs. A new run shows what the fix does.'
edit agent.py '"kettle": 1.2' '"kettle": 1.2, "lamp": 0.75'
run 1 evalcase run

heading '3. So is the expectation' \
    'Sending a kettle costs 6.40. The stored answers are graded again, not asked.'
edit shop.eval.yaml 'That is 7.00' 'That is 6.40'
run 0 evalcase resume latest

heading '4. What was kept' \
    'Every answer, and what it was graded by. The record needs nothing else.'
run 0 evalcase report latest --case finds-the-order

heading '5. A suite with mistakes' \
    'All of them are found at once: where it is, what is wrong, and how to fix it.'
cat > new.eval.yaml <<'SUITE'
cases:
  - id: returns
    input: How long can I return things?
    expected: For 30 days.

  - id: greeting
    input: [{role: usr, content: Good morning!}]
    expected_output: Good morning!
    timeout_s: 30s
SUITE
run 0 cat new.eval.yaml
run 2 evalcase check new.eval.yaml
echo 'The exit code was 2, and nothing is run: a misspelt field fails the build'
echo 'instead of becoming an eval that checks nothing.'
echo

heading '6. What changed' \
    'The first run and the second, case by case; and the second as a page to share.'
run 0 evalcase compare
run 0 evalcase report -o report.html
mv report.html "$page"
printf 'Open it in a browser:\n%s\n\n' "$page"

heading 'That is the tour.' \
    'The examples are in examples/, and docs/tutorial.md takes ten minutes.'
