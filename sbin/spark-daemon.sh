#!/usr/bin/env bash
# Start a daemon in the background, stop it, or print whether it runs.
#
#   SPARK_CONF_DIR        the configuration directory (default: conf)
#   SPARK_LOG_DIR         the directory of its log (default: logs)
#   SPARK_LOG_MAX_FILES   the number of old logs to keep (default: 5)
#   SPARK_PID_DIR         the directory of its pid file (default: /tmp)
#   SPARK_IDENT_STRING    distinguishes daemons of several users (default: $USER)
#   SPARK_NICENESS        its nice value (default: 0)
#   SPARK_NO_DAEMONIZE    if set, it runs in the foreground and logs to standard error
usage="Usage: spark-daemon.sh [--config <conf-dir>] (start|stop|submit|decommission|status) <spark-command> <spark-instance-number> <args...>"

sbin="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$sbin/spark-config.sh"
if [ $# -lt 3 ] && { [ $# -lt 2 ] || [ "$1" = start ] || [ "$1" = submit ]; }; then
        echo "$usage"
        exit 1
fi
option=$1 command=$2 instance=${3:-1}
shift $(($# < 3 ? $# : 3))

SPARK_IDENT_STRING="${SPARK_IDENT_STRING:-${USER:-$(id -un)}}"
SPARK_LOG_DIR="${SPARK_LOG_DIR:-$FIRESTEEL_HOME/logs}"
SPARK_PID_DIR="${SPARK_PID_DIR:-/tmp}"
SPARK_LOG_MAX_FILES="${SPARK_LOG_MAX_FILES:-5}"
export SPARK_IDENT_STRING SPARK_LOG_DIR # daemons show their own logs
name="spark-$SPARK_IDENT_STRING-$command-$instance"
log="$SPARK_LOG_DIR/$name-$(uname -n).out"
pid_file="$SPARK_PID_DIR/$name.pid"

# Is the process of the pid file this daemon? The kernel reuses process ids.
is_running() {
        pid="$(cat "$pid_file" 2>/dev/null)" && [ -n "$pid" ] || return 1
        # Read /proc: a minimal Debian has no ps.
        [[ "$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")" =~ (firesteel|spark-submit|java) ]]
}

rotate_logs() {
        case "$SPARK_LOG_MAX_FILES" in
        '' | 0 | *[!0-9]*)
                echo "Error: SPARK_LOG_MAX_FILES must be a positive number, but got $SPARK_LOG_MAX_FILES"
                exit 255
                ;;
        esac
        [ -f "$log" ] || return 0
        for ((i = SPARK_LOG_MAX_FILES; i > 1; i--)); do
                [ ! -f "$log.$((i - 1))" ] || mv "$log.$((i - 1))" "$log.$i"
        done
        mv "$log" "$log.1"
}

start() {
        mkdir -p "$SPARK_PID_DIR" || exit 1
        if is_running; then
                echo "$command running as process $pid.  Stop it first."
                exit 1
        fi
        if [ -n "${SPARK_NO_DAEMONIZE+set}" ]; then
                exec nice -n "${SPARK_NICENESS:-0}" "$@"
        fi
        mkdir -p "$SPARK_LOG_DIR" || exit 1
        rotate_logs
        echo "starting $command, logging to $log"
        nohup nice -n "${SPARK_NICENESS:-0}" "$@" >>"$log" 2>&1 </dev/null &
        pid=$!
        echo "$pid" >"$pid_file"
        # Wait until it listens or has ended.
        for _ in $(seq 50); do
                kill -0 "$pid" 2>/dev/null || break
                ! grep -qs "Successfully started service" "$log" || break
                sleep 0.1
        done
        if ! kill -0 "$pid" 2>/dev/null; then
                echo "failed to launch: nice -n ${SPARK_NICENESS:-0} $*"
                tail -10 "$log" | sed 's/^/  /'
                echo "full log in $log"
                exit 1
        fi
}

# Send signal $1 to the daemon if it runs. $2 and $3 are the words of the messages.
signal_daemon() {
        if is_running; then
                echo "$2 $command"
                kill -s "$1" "$pid"
        else
                echo "no $command to $3"
                return 1
        fi
}

program="$(firesteel_program)" || exit 1
case "$command" in
org.apache.spark.deploy.master.Master) words=("$program" master) ;;
org.apache.spark.deploy.worker.Worker) words=("$program" worker) ;;
org.apache.spark.deploy.history.HistoryServer) words=("$program" history-server) ;;
org.apache.spark.deploy.ExternalShuffleService | org.apache.spark.deploy.mesos.MesosExternalShuffleService)
        words=("$program" shuffle-service)
        ;;
org.apache.spark.deploy.mesos.MesosClusterDispatcher) words=("$program" mesos-dispatcher) ;;
*) words=("$program" class "$command") ;;
esac

case "$option" in
start) start "${words[@]}" "$@" ;;
submit) start "$program" submit --class "$command" "$@" ;;
stop)
        if signal_daemon TERM stopping stop; then
                rm -f "$pid_file"
                for _ in $(seq 100); do
                        kill -0 "$pid" 2>/dev/null || break
                        sleep 0.1
                done
        fi
        ;;
decommission) signal_daemon PWR decommissioning decommission || true ;;
status)
        if is_running; then
                echo "$command is running."
        elif [ -f "$pid_file" ]; then
                echo "$pid_file file is present but $command not running"
                exit 1
        else
                echo "$command not running."
                exit 2
        fi
        ;;
*)
        echo "$usage"
        exit 1
        ;;
esac
