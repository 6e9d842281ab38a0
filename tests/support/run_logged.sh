#!/usr/bin/env bash
# Runs a test binary and keeps what it prints: run_logged.sh LOG BINARY [ARGUMENT…]
set -o pipefail
mkdir -p "$(dirname "$1")"
"${@:2}" 2>&1 | tee "$1"
