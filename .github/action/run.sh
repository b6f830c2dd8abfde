#!/usr/bin/env bash
# What the composite action runs: check, run, annotations, summary, comparison with a baseline.
# Exit code: that of `evalcase run`; with a baseline, failed cases (1) are left to `compare`.
set -uo pipefail

read -ra paths <<<"${EVALS_PATHS:-.}"
read -ra arguments <<<"${EVALS_ARGUMENTS:-}"
if [[ -n ${EVALS_TARGET:-} ]]; then
    arguments+=(--target "$EVALS_TARGET")
fi
summary=${GITHUB_STEP_SUMMARY:-/dev/stdout}

evalcase check --format github "${paths[@]}" || exit 2

code=0
evalcase run "${paths[@]}" "${arguments[@]}" || code=$?
if ((code == 2)); then # nothing was run, so there is nothing to report
    exit 2
fi

evalcase report --format github
evalcase report --format markdown >>"$summary"
evalcase report --format jsonl --output "${EVALS_RESULTS:-evals.jsonl}"

if [[ -n ${EVALS_BASELINE:-} && -f $EVALS_BASELINE ]]; then
    evalcase compare --baseline "$EVALS_BASELINE" --format markdown >>"$summary"
    compared=0
    evalcase compare --baseline "$EVALS_BASELINE" --fail-on broken --fail-on removed || compared=$?
    if ((code <= 1)); then
        code=$compared
    fi
fi
exit "$code"
