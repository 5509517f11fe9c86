#!/usr/bin/env bash
# Common settings of these scripts, which source this file. FIRESTEEL_HOME is the directory of bin/ and conf/.
FIRESTEEL_HOME="${FIRESTEEL_HOME:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
export FIRESTEEL_HOME

# The first arguments may be --config DIR.
if [ "${1:-}" = --config ]; then
        [ -d "${2:-}" ] || { echo "ERROR : ${2:-} is not a directory"; exit 1; }
        SPARK_CONF_DIR="$(cd "$2" && pwd)"
        shift 2
fi
export SPARK_CONF_DIR="${SPARK_CONF_DIR:-$FIRESTEEL_HOME/conf}"

if [ -z "${SPARK_ENV_LOADED:-}" ]; then
        export SPARK_ENV_LOADED=1
        if [ -f "$SPARK_CONF_DIR/spark-env.sh" ]; then
                set -a
                # shellcheck source=/dev/null
                . "$SPARK_CONF_DIR/spark-env.sh"
                set +a
        fi
fi

# The one program behind all commands.
firesteel_program() {
        if [ -x "$FIRESTEEL_HOME/bin/firesteel" ]; then
                echo "$FIRESTEEL_HOME/bin/firesteel"
        elif ! command -v firesteel; then
                echo "There is no firesteel in $FIRESTEEL_HOME/bin or in PATH: set FIRESTEEL_HOME" >&2
                return 1
        fi
}
