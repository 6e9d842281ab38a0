#!/usr/bin/env bash
# Adds up the logs of Qt Test binaries that run_logged.sh kept: tally.sh LOG…
# Prints "PASSED FAILED SKIPPED", then a line for each skipped test ("skip NAME: reason") and each failed one ("fail
# NAME: reason"). A binary that ended before its totals (a crash, a time-out) or ran no test is one more failure.
exec awk '
function close_log() {
    if (log_name == "") return
    if (status == "") fault("it was cut short (time-out?)")
    else if (started > totals || (status != 0 && failed_here == 0)) fault("it ended before its totals, exit " status)
    else if (started == 0) fault("it ran no test")
}
function fault(what) { failed++; lines = lines "fail " log_name ": " what "\n" }
function note(kind, line) {
    sub(/^[A-Z!]+ *: */, "", line)
    lines = lines kind " " line "\n"
}
FNR == 1 {
    close_log()
    log_name = FILENAME; sub(/.*\//, "", log_name); sub(/\.log$/, "", log_name)
    started = totals = failed_here = 0; status = ""
}
/^exit [0-9]+$/ { status = $2 }
/^\*+ Start testing of / { started++ }
/^Totals: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ {
    totals++; passed += $2; failed += $4; failed_here += $4; skipped += $6
}
/^SKIP +: / { note("skip", $0) }
/^(FAIL!|XPASS) +: / { note("fail", $0) }
END { close_log(); printf "%d %d %d\n%s", passed, failed, skipped, lines }
' "$@"
