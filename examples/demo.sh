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
trap 'rm -rf "$copy"' EXIT

heading() {
    printf '%s%s%s\n%s\n\n' "$bold" "$1" "$plain" "$2"
    sleep "$pause"
}

# Shows a command and runs it; the first argument is the exit code it should have.
run() {
    local expected=$1 status=0
    shift
    printf '%s$ %s%s\n' "$dim" "$*" "$plain"
    "$@" || status=$?
    if ((status != expected)); then
        echo "demo: exit code $status, where $expected was expected" >&2
        exit 1
    fi
    echo
    sleep "$pause"
}

heading '1. A suite in order' \
    'Cases for a shop assistant, written in the shortest form that says what they mean.'
run 0 head -n 11 01-short-forms/shop.eval.yaml
run 0 evalcase check 01-short-forms

heading '2. What evalcase understood' \
    'Short forms become messages. Keys, values and their order stay as they were written.'
run 0 evalcase show 01-short-forms/shop.eval.yaml --case order-status --format yaml

heading '3. A suite with mistakes' \
    'Every mistake is found in one go: where it is, what is wrong, and a way out.'
cd 06-mistakes
run 2 evalcase check typos.eval.yaml
echo 'The exit code was 2, and that is the point: a misspelt field fails the build here.'
echo 'It never becomes an eval that checks nothing.'
echo

heading '4. Old names, brought up to date' \
    'First the diff, on a copy. Then the change itself, which leaves every other byte alone.'
cp ../05-old-names/onboarding.eval.yaml ../05-old-names/evalcase.toml "$copy"
cd "$copy"
run 0 evalcase migrate onboarding.eval.yaml --diff
run 0 evalcase migrate onboarding.eval.yaml
run 0 evalcase check --strict onboarding.eval.yaml

heading '5. An agent, run offline' \
    'Six cases for a small Python agent with tools: text, data, a tool call, a grader of our own.'
cp -R "$examples/07-an-agent" "$copy/agent"
cd "$copy/agent"
run 0 cat evalcase.toml
run 3 evalcase run
echo 'Three outcomes, and they are never mixed:'
echo '  passed    the answer is what was expected'
echo '  failed    the agent answered, and the answer is wrong: look at the answer'
echo '  errored   there is no verdict, because the agent itself broke: look at the agent'
echo 'The exit code was 3, since one trial errored. Without that it would have been 1, for the failed one.'
echo
run 0 evalcase list

heading 'That is the tour.' \
    'The examples are in examples/, and docs/tutorial.md takes ten minutes.'
