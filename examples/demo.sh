#!/bin/sh
# The demo: a folder to cited answers and refusals, on embedded defaults. `make demo` calls it.
set -eu
cd "$(dirname "$0")/.."
export GAWAH_STORE="${GAWAH_STORE:-.demo/store}"
rm -rf .demo

run() {
    printf '\n$ gawah'
    for word in "$@"; do
        case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    gawah "$@"
}

refused() {
    code=0
    run "$@" || code=$?
    [ "$code" -eq 3 ] || { echo "expected a refusal (exit code 3), got $code" >&2; exit 1; }
}

run ingest examples/handbook
run ingest examples/formats
run ask "What happened at Devkund in July 2023?"
run ask "What happens when the two readings of a flood mark are more than four millimetres apart?"
run ask "फालेंदा में 2020 में रसोई की छत किस गलती से जली थी?"
refused ask "How do I tune autovacuum in PostgreSQL for a large table?"
refused ask "What is the offside rule in football?"
run verify
run doctor
