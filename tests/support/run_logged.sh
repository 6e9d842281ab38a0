#!/usr/bin/env bash
# Runs a test binary and keeps what it prints: run_logged.sh LOG BINARY [ARGUMENT…]
# The log ends with a line "exit STATUS"; without it the run was cut short. tally.sh reads it.
mkdir -p "$(dirname "$1")"
printf 'run %s\n' "${*:2}" >"$1"
"${@:2}" 2>&1 | tee -a "$1"
status=${PIPESTATUS[0]}
printf 'exit %s\n' "$status" >>"$1"
exit "$status"
