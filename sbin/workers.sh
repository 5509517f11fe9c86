#!/usr/bin/env bash
# Run a command on each host of conf/workers by ssh. Each line of output is prefixed with its host.
#
#   SPARK_WORKERS         the file with the hosts (default: workers in the configuration directory, else localhost)
#   SPARK_WORKER_SLEEP    seconds between two hosts
#   SPARK_SSH_OPTS        options of ssh (default: -o StrictHostKeyChecking=no)
#   SPARK_SSH_FOREGROUND  if set, one host after the other
if [ $# -le 0 ]; then
        echo "Usage: workers.sh [--config confdir] command..."
        exit 1
fi
sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
file="${SPARK_WORKERS:-${SPARK_SLAVES:-}}"
if [ -z "$file" ] && [ -f "$SPARK_CONF_DIR/workers" ]; then
        file="$SPARK_CONF_DIR/workers"
elif [ -z "$file" ] && [ -f "$SPARK_CONF_DIR/slaves" ]; then
        file="$SPARK_CONF_DIR/slaves"
fi
hosts=localhost
[ -z "$file" ] || hosts="$(sed 's/#.*$//;/^[[:space:]]*$/d' "$file")" || exit 1
read -r -a options <<<"${SPARK_SSH_OPTS:--o StrictHostKeyChecking=no}"

# Quote the words for the remote shell, except ";", which separates commands.
words=()
for word in "$@"; do
        if [ "$word" = ';' ]; then words+=(';'); else words+=("$(printf %q "$word")"); fi
done
for host in $hosts; do
        if [ -n "${SPARK_SSH_FOREGROUND:-}" ]; then
                ssh "${options[@]}" "$host" "${words[*]}" 2>&1 | sed "s/^/$host: /"
        else
                ssh "${options[@]}" "$host" "${words[*]}" 2>&1 </dev/null | sed "s/^/$host: /" &
        fi
        sleep "${SPARK_WORKER_SLEEP:-${SPARK_SLAVE_SLEEP:-0}}"
done
wait
