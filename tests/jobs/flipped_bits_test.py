"""Bits that are flipped between driver and executors are detected: results stay right, and the application ends well (src/rpc/frame.h)."""
import random
import subprocess

import pytest

from flipping_relay import FlippingRelay
from folders import BIN
from free_ports import free_port
from inherited_environment import inherited_environment

# Each job fetches a new broadcast variable and slices of rows from the driver, and its executors exchange a shuffle. All sums are known.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 60000
#define VALUES 20000

static int add(fst_task *task, int64_t x, fst_out *out)
{
        const fst_broadcast *b = fst_captured(task);
        const int64_t *values = (const int64_t *)fst_broadcast_value(task, *b).data;
        if (!values)
                return -1;
        fst_emit(out, x % 7, x + values[x % VALUES]);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("flipped");
        int64_t *rows = malloc(ROWS * sizeof(*rows)), values[VALUES];
        for (int i = 0; i < ROWS; i++)
                rows[i] = i;
        for (int job = 0; job < 6; job++) {
                int64_t sum = 0;
                for (int i = 0; i < VALUES; i++)
                        values[i] = i * 3 + job;
                fst_broadcast b = fst_broadcast_struct(sc, &values);
                fst_rdd *numbers = fst_parallelize_n(sc, rows, ROWS, 4);
                fst_reduce(fst_values(fst_reduce_by_key_n(fst_map(numbers, FST_WITH(add, b), FST_PAIR(I64, I64)), fst_fn_sum, 4)), fst_fn_sum, &sum);
                printf("sum %ld\n", (long)(sum - (int64_t)ROWS * job));
        }
        fflush(stdout);
        free(rows);
        return fst_context_stop(sc);
}
"""
SUM = sum(range(60000)) + 3 * 3 * sum(range(20000))


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    folder = tmp_path_factory.mktemp("application")
    (folder / "flipped.c").write_text(APPLICATION)
    subprocess.run([f"{BIN}/firesteel", "compile", str(folder / "flipped.c"), "-o", str(folder / "flipped.so")], check=True, timeout=120)
    return folder / "flipped.so"


def run(application, rpc_plan, transfer_plan):
    """Runs the application behind relays. Returns the process, and the flipped bits of messages and of transfers."""
    rpc, transfer = free_port(), free_port()
    confs = [f"spark.driver.port={rpc}", f"spark.driver.blockManager.port={transfer}", "spark.driver.host=127.0.0.2",
             "spark.driver.bindAddress=127.0.0.1", "spark.firesteel.localCluster.hosts=127.0.0.1", "spark.ui.enabled=false",
             "spark.task.maxFailures=100", "spark.executor.heartbeatInterval=200ms", "spark.shuffle.io.retryWait=50ms"]
    with FlippingRelay("127.0.0.2", rpc, rpc_plan) as messages, FlippingRelay("127.0.0.2", transfer, transfer_plan) as transfers:
        done = subprocess.run([f"{BIN}/spark-submit", "--master", "local-cluster[2,1,1024]",
                               *[word for conf in confs for word in ("--conf", conf)], str(application)],
                              capture_output=True, text=True, errors="replace", timeout=120, env=inherited_environment(), check=False)
        return done, messages.flipped, transfers.flipped


def check(done):
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["sum", str(SUM)] * 6, done.stdout + done.stderr


def test_flipped_bits_are_detected(application):
    draw = random.Random(7)
    # The first connections: each has a flip, in the handshake or in one of the messages after it; then there are no more.
    plan = [{"up": draw.randrange(40, 120)}, {"down": draw.randrange(40, 120)}, {"up": draw.randrange(150, 900)}, {"down": draw.randrange(300, 3000)}]
    done, messages, transfers = run(
        application, lambda i: plan[i] if i < len(plan) else {},
        lambda i: [{"up": draw.randrange(16, 60)}, {"down": draw.randrange(0, 20000)}, {"down": draw.randrange(20000, 100000)}][i] if i < 3 else {})
    check(done)
    assert done.stderr.count("damaged") >= 5, done.stderr
    assert (messages, transfers) == (4, 3)
