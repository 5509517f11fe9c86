"""Jobs with input and output in a remote file system, for `make check-hdfs` and `make check-s3`."""
import collections
import gzip
import random

# Counts words. On request the first attempt of a task fails when its part file is begun.
APPLICATION = rb"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <stdlib.h>

struct plan {
        int64_t failing; /* the partition of which attempts fail; -1: none */
        int64_t attempts;
};

static int split(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_split words = fst_split_of(line, ' ');
        for (fst_bytes word; fst_split_next(&words, &word);)
                fst_emit(out, word, 1);
        return 0;
}

static bool keep(fst_task *task, fst_bytes word, int64_t count)
{
        const struct plan *plan = fst_captured(task);
        if (fst_task_partition(task) == plan->failing && fst_task_attempt(task) < plan->attempts)
                fst_fail(task, "attempt %d fails as it was told", fst_task_attempt(task));
        return true;
}

static int length(fst_task *task, fst_bytes path, fst_bytes content, fst_out *out)
{
        fst_emit(out, (int64_t)content.len);
        return 0;
}

/* Whole files, records of one length, objects and packed text, there and back. */
static int others(const char *in, const char *out)
{
        char objects[1000], packed[1000], copies[1000];
        fst_context *sc = fst_context_new("others");
        fst_rdd *records = fst_binary_records(sc, in, 7);
        int64_t bytes = 0, n = 0, again = 0, lines = 0, copied = 0;
        snprintf(objects, sizeof(objects), "%s-objects", out);
        snprintf(packed, sizeof(packed), "%s-packed", out);
        snprintf(copies, sizeof(copies), "%s-copies", out);
        fst_reduce(fst_map(fst_whole_text_files(sc, in), length, FST_I64), fst_fn_sum, &bytes);
        fst_count(records, &n);
        fst_save_as_object_file(records, objects);
        fst_count(fst_object_file_n(sc, objects, FST_FIXED(7), 5), &again);
        fst_save_as_text_file_codec(records, packed, "gzip");
        fst_count(fst_text_file(sc, packed), &lines);
        fst_save_as_binary_records(records, copies);
        fst_count(fst_binary_records(sc, copies, 7), &copied);
        printf("%lld bytes, %lld records in %d partitions, %lld objects, %lld copies, %lld lines\n", (long long)bytes, (long long)n,
               fst_rdd_partitions(records), (long long)again, (long long)copied, (long long)lines);
        return fst_context_stop(sc);
}

int main(int argc, char **argv)
{
        if (argc == 3)
                return others(argv[1], argv[2]);
        struct plan plan = {.failing = 1, .attempts = atoi(argv[3])};
        fst_context *sc = fst_context_new("words");
        fst_rdd *lines = fst_text_file_n(sc, argv[1], 1);
        fst_rdd *words = fst_reduce_by_key_n(fst_flat_map(lines, split, FST_PAIR(BYTES, I64)), fst_fn_sum, 3);
        int r = fst_save_as_text_file(fst_filter(words, FST_WITH(keep, plan)), argv[2]);
        int64_t rows = 0;
        if (r == 0)
                fst_count(fst_text_file(sc, argv[2]), &rows);
        printf("%d partitions in, %lld rows out\n", fst_rdd_partitions(lines), (long long)rows);
        return fst_context_stop(sc);
}
"""

BLOCK = 1 << 20  # a file of two and a half blocks becomes three splits


def words(seed, size):
    """Lines of text, and the count of each word."""
    r = random.Random(seed)
    lines, left = [], size
    while left > 0:
        line = " ".join(f"word{int(r.random() ** 2 * 5000)}" for _ in range(12))
        lines.append(line)
        left -= len(line) + 1
    return ("\n".join(lines) + "\n").encode()


class Jobs:
    """
    `submit` runs spark-submit with the given arguments and returns like subprocess.run. `put(path, content)`,
    `read(path)` and `names(path)` use the file system. A path such as "/jobs/x" is below @root.
    """

    def __init__(self, expect, application, root, submit, put, read, names):
        self.expect, self.application, self.root, self.submit = expect, application, root, submit
        self.put, self.read, self.names = put, read, names
        self.made = 0

    def fill(self):
        parts = [words(1, BLOCK * 5 // 2), words(2, 1000), words(3, 50000)]
        self.put("/jobs/in/large.txt", parts[0])
        self.put("/jobs/in/small.txt", parts[1])
        self.put("/jobs/in/packed.txt.gz", gzip.compress(parts[2]))
        self.put("/jobs/in/_hidden", b"hidden words\n")
        self.put("/jobs/records/bytes", random.Random(5).randbytes(7 * 100000) * 3)
        self.put("/jobs/more/also with blank.txt", b"and this\n")
        self.expected = collections.Counter(b" ".join(parts + [b"and this\n"]).split())

    def out(self):
        self.made += 1
        return f"/jobs/out{self.made}"

    def run(self, out, *more, attempts=0, where=None):
        inputs = f"{self.root}/jobs/in,{self.root}/jobs/m*/also with {{blank,other}}.txt"
        return self.submit(*more, self.application, where or inputs, self.root + out, str(attempts))

    def check_output(self, what, done, out):
        found = collections.Counter()
        parts = [f"part-{i:05}" for i in range(3)]
        self.expect(f"{what}: the job succeeds", done,
                    (done.returncode, done.stdout) == (0, f"6 partitions in, {len(self.expected)} rows out\n"))
        names = sorted(self.names(out))
        self.expect(f"{what}: its output is there and nothing else", names, names == ["_SUCCESS"] + parts)
        for part in parts:
            for line in self.read(f"{out}/{part}").splitlines():
                word, count = line[1:-1].split(b",")
                found[word] += int(count)
        self.expect(f"{what}: it is what was to be computed", (found - self.expected, self.expected - found),
                    found == self.expected)

    def check_event_log(self, *settings):
        self.put("/jobs/logs/other", b"no log\n")
        words = ["--master", "local[2]", "--conf", "spark.eventLog.enabled=true", "--conf", "spark.eventLog.compress=false",
                 "--conf", f"spark.eventLog.dir={self.root}/jobs/logs", *settings]
        for rolling in "true", "false":
            before = set(self.names("/jobs/logs"))
            out = self.out()
            done = self.run(out, *words, "--conf", f"spark.eventLog.rolling.enabled={rolling}")
            self.check_output(f"an event log here, rolling: {rolling}", done, out)
            made = sorted(set(self.names("/jobs/logs")) - before)
            self.expect("… is one log", made, len(made) == 1)
            path = f"/jobs/logs/{made[0]}"
            if rolling == "true":
                app = made[0].removeprefix("eventlog_v2_")
                names = sorted(self.names(path))
                self.expect("… with its state and its events", names, names == [f"appstatus_{app}", f"events_1_{app}"])
                path += f"/events_1_{app}"
            text = self.read(path)
            self.expect("… that is complete", text[-500:], text.startswith(b'{"Event":"SparkListenerLogStart"')
                        and b'"Event":"SparkListenerApplicationEnd"' in text.splitlines()[-1])

    def check(self, *settings):
        self.fill()
        for master in ("local[2]", "local-cluster[2,1,1024]"):
            words = ["--master", master, *settings]
            for version in "1", "2":
                words_now = words + ["--conf", f"spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version={version}"]
                out = self.out()
                what = f"{master}, commit algorithm {version}"
                if version == "1":
                    self.check_output(what, self.run(out, *words_now), out)
                    out = self.out()
                # local[N,M] allows attempts; local-cluster has spark.task.maxFailures.
                words_now[1] = master.replace("local[2]", "local[2,3]")
                done = self.run(out, *words_now, attempts=1)
                self.check_output(f"{what}, an attempt fails", done, out)
                self.expect("… which it did", done.stderr, "attempt 0 fails as it was told" in done.stderr)
            out = self.out()
            done = self.submit(*words, self.application, f"{self.root}/jobs/records", self.root + out)
            self.expect(f"{master}: whole files, records, objects and packed text", done, (done.returncode, done.stdout) == (
                0, f"{7 * 300000} bytes, 300000 records in 2 partitions, 300000 objects, 300000 copies, 300000 lines\n"))
            copies = b"".join(self.read(f"{out}-copies/part-{i:05}") for i in range(2))
            self.expect("… and records are as they were", len(copies), copies == self.read("/jobs/records/bytes"))
            names = sorted(self.names(f"{out}-packed"))
            self.expect("… in files that are called as they should be", names,
                        names == ["_SUCCESS", "part-00000.gz", "part-00001.gz"])
        out = self.out()
        done = self.run(out, "--master", "local[2]", "--conf", "spark.firesteel.task.isolation=process", *settings)
        self.check_output("tasks in processes of their own", done, out)
        self.check_event_log(*settings)
        out = self.out()
        done = self.run(out, "--master", "local[2]", *settings, attempts=9)
        names = sorted(self.names(out))
        self.expect("a job that fails leaves nothing that looks like output", (done, names),
                    done.returncode == 1 and "fails as it was told" in done.stderr and not names)
        done = self.run("/jobs/out1", "--master", "local[2]", *settings)
        self.expect("an output that is there is refused", done, done.returncode == 1 and
                    f"Output directory {self.root}/jobs/out1 already exists" in done.stderr)
        done = self.run(self.out(), "--master", "local[2]", *settings, where=f"{self.root}/jobs/none,{self.root}/jobs/n*/x")
        self.expect("inputs that are not there are named", done, done.returncode == 1
                    and f"Input path does not exist: {self.root}/jobs/none\n" in done.stderr
                    and f"Input Pattern {self.root}/jobs/n*/x matches 0 files" in done.stderr)
