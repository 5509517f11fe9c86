/*
 * Compares random lineages with a reference evaluator.
 *
 *      lineages FROM..TO [--verbose]
 *
 * For each seed, draws a lineage, evaluates it by loops over arrays, builds it with the public interface and runs it. At
 * the first difference, prints the lineage and exits with 1. A block of consecutive seeds shares a context. Its number of
 * threads, its memory (so little that operators spill), the encoding of stages and spark.default.parallelism follow from
 * the seed, so that a seed alone gives the same lineage in the same world.
 */
#include "build.h"
#include "compare.h"
#include "draw.h"
#include "evaluate.h"
#include "world.h"

#include "base/mem.h"

#include <inttypes.h>
#include <time.h>

/* The parts that are left out of a failing lineage, to find the cause. */
enum { WITHOUT_FAILURES = 1, WITHOUT_STORAGE = 2, EACH_NODE = 4 };

struct soak {
        struct world world;
        bool verbose;
        uint64_t operators[OPERATORS_N], actions[ACTIONS_N], nodes, rows;
        uint64_t failed_jobs, futures; /* jobs that had to fail; asynchronous actions */
        struct tally tally;
};

/* ---------------------------------------------------------------------------------------------------- one lineage */

static void leave_out(struct node *n, int without)
{
        if (without & WITHOUT_FAILURES && n->deed.fail_attempts != DEED_POISON)
                n->deed.fail_one_in = 0;
        if (without & WITHOUT_STORAGE) {
                n->level = FST_STORAGE_NONE;
                n->checkpoint = KEEP_LINEAGE;
        }
}

/* Builds and evaluates the drawn node, in the order that it requires. Returns NULL, or an error of its rows. */
static const char *make_node(struct soak *s, struct plan *p, int without, struct verdict *v)
{
        int i = p->n_nodes;
        struct node *n = &p->nodes[i];
        int64_t cut[1024];
        leave_out(n, without);
        if (!node_is_cut(n)) {
                const char *wrong = evaluate_node(p, i, NULL);
                if (!wrong)
                        build_node(s->world.sc, p, i, s->world.folder);
                return wrong;
        }
        build_node(s->world.sc, p, i, s->world.folder);
        int parts = node_reads_files(n) ? fst_rdd_partitions(n->rdd) : node_cut_partitions(p, i);
        if (node_reads_files(n))
                n->n = parts;
        if (parts < 0 || parts > 1024) {
                snprintf(v->text, sizeof(v->text), "it has %d partitions", parts);
                return v->text;
        }
        return compare_counts(n->rdd, cut, parts, v) ? evaluate_node(p, i, cut) : v->text;
}

/* Adds a node to the plan, unless it has too many rows. Returns false if its rows are wrong. */
static bool add_node(struct soak *s, struct plan *p, int without, struct verdict *v)
{
        char said[sizeof(v->text)];
        const char *wrong = make_node(s, p, without, v);
        if (wrong && !*wrong)
                return true;
        p->n_nodes++;
        if (!wrong)
                return true;
        snprintf(said, sizeof(said), "%s", wrong);
        snprintf(v->text, sizeof(v->text), "node %d: %.1400s", p->n_nodes - 1, said);
        return false;
}

static bool make_nodes(struct soak *s, struct plan *p, struct dice *d, int without, struct verdict *v)
{
        int most = draw_plan(d, p);
        for (int tries = 0; p->n_nodes < most && tries < 40; tries++)
                if (draw_node(d, p) && !add_node(s, p, without, v))
                        return false;
        if (dice_one_in(d, 30)) {
                draw_poison(d, p);
                return add_node(s, p, without, v);
        }
        draw_actions(d, p);
        return true;
}

static bool compare_actions(struct soak *s, struct plan *p, int without, struct verdict *v)
{
        char said[sizeof(v->text)];
        for (int i = 0; i < p->n_nodes && without & EACH_NODE && !p->poisoned; i++) {
                struct action collect = {.act = ACT_COLLECT, .node = i};
                if (compare_action(s->world.sc, p, &collect, s->world.folder, v))
                        continue;
                snprintf(said, sizeof(said), "%s", v->text);
                snprintf(v->text, sizeof(v->text), "collect of %d: %.1400s", i, said);
                return false;
        }
        for (int i = 0; i < p->n_actions; i++)
                compare_begin(s->world.sc, p, &p->actions[i]);
        for (int i = 0; i < p->n_actions; i++) {
                const struct action *a = &p->actions[i];
                if (compare_action(s->world.sc, p, a, s->world.folder, v))
                        continue;
                snprintf(said, sizeof(said), "%s", v->text);
                snprintf(v->text, sizeof(v->text), "%s of %d: %.1400s", action_names[a->act], a->node, said);
                return false;
        }
        return true;
}

/* No job runs when this returns. */
static bool run_actions(struct soak *s, struct plan *p, int without, struct verdict *v)
{
        bool good = compare_actions(s, p, without, v);
        for (int i = 0; i < p->n_actions; i++)
                if (p->actions[i].future)
                        fst_future_wait(p->actions[i].future);
        return good;
}

static bool run_seed(struct soak *s, uint64_t seed, int without, bool print, struct verdict *v)
{
        struct dice d = {.seed = seed};
        struct plan *p = new0(struct plan);
        p->seed = seed;
        p->cores = s->world.around.cores;
        p->parallelism = s->world.around.parallelism;
        int scope = fst_scope_begin(s->world.sc);
        bool good = make_nodes(s, p, &d, without, v) && run_actions(s, p, without, v);
        fst_scope_end(s->world.sc, scope, NULL);
        if (print)
                plan_print(p, stderr);
        for (int i = 0; i < p->n_nodes; i++) {
                s->operators[p->nodes[i].operator] += p->nodes[i].table.rows > 0;
                s->rows += p->nodes[i].table.rows;
        }
        for (int i = 0; i < p->n_actions; i++) {
                s->actions[p->actions[i].act]++;
                s->futures += p->actions[i].future != NULL;
        }
        s->nodes += (uint64_t)p->n_nodes;
        s->failed_jobs += p->failed;
        arena_deinit(&p->arena);
        free(p);
        return good;
}

/* --------------------------------------------------------------------------------------------------------- reports */

/* Repeats a lineage in a separate context, without some part. */
static void try_again(uint64_t seed, const char *how, struct surroundings around, int without)
{
        struct soak *s = new0(struct soak);
        struct verdict v = {""};
        world_begin(&s->world, around);
        bool good = run_seed(s, seed, without, false, &v);
        fprintf(stderr, "  %s: %s%s\n", how, good ? "right" : "wrong: ", v.text);
        world_end(&s->world);
        free(s);
}

static void report(uint64_t seed, uint64_t first, struct surroundings around, const struct verdict *v)
{
        struct surroundings one = around, here = around, memory = around;
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, v->text);
        surroundings_print(around, stderr);
        one.cores = 1;
        here.by_wire = false;
        memory.little_memory = false;
        try_again(seed, "alone", around, 0);
        try_again(seed, "each node collected", around, EACH_NODE);
        try_again(seed, "without failures of tasks", around, WITHOUT_FAILURES);
        try_again(seed, "without persisting and checkpoints", around, WITHOUT_STORAGE);
        try_again(seed, "without both, each node collected", around, WITHOUT_FAILURES | WITHOUT_STORAGE | EACH_NODE);
        try_again(seed, "one thread", one, 0);
        if (around.by_wire)
                try_again(seed, "without the wire", here, 0);
        if (around.little_memory)
                try_again(seed, "with much memory", memory, 0);
        fprintf(stderr, "again: build/tests/lineage/lineages %" PRIu64 "..%" PRIu64 " --verbose\n", seed, seed);
        if (first != seed)
                fprintf(stderr,
                        "with what the context had seen: build/tests/lineage/lineages %" PRIu64 "..%" PRIu64 "\n",
                        first, seed);
}

/* Checks that the context's status is that of its jobs and, if it ran all its lineages, that its events occurred. */
static bool end_world(struct soak *s, uint64_t first, uint64_t last, bool poisoned, struct verdict *v)
{
        bool ended_well = world_end(&s->world), whole = first % WORLD_SEEDS == 0 && (last + 1) % WORLD_SEEDS == 0;
        const char *amiss = ended_well == poisoned ? "did not end as its jobs did"
                            : whole                ? world_misses(&s->world)
                                                   : NULL;
        s->tally.stages_by_wire += s->world.tally.stages_by_wire;
        s->tally.failed_tasks += s->world.tally.failed_tasks;
        s->tally.spilled_tasks += s->world.tally.spilled_tasks;
        if (amiss)
                snprintf(v->text, sizeof(v->text), "the context of seeds %" PRIu64 " to %" PRIu64 ": %s", first, last,
                         amiss);
        return !amiss;
}

/* Checks that every operator and action occurred with rows. */
static bool covered(const struct soak *s)
{
        bool all = true;
        for (int i = 0; i < OPERATORS_N; i++)
                if (!s->operators[i]) {
                        fprintf(stderr, "no lineage had rows of %s\n", operator_names[i]);
                        all = false;
                }
        for (int i = 0; i < ACTIONS_N; i++)
                if (!s->actions[i]) {
                        fprintf(stderr, "no lineage had %s\n", action_names[i]);
                        all = false;
                }
        if (!s->futures)
                fprintf(stderr, "no lineage had an action that does not wait\n");
        return all && s->futures;
}

int main(int argc, char **argv)
{
        struct soak *s = new0(struct soak);
        uint64_t from, to, first = 0, poisoned_before = 0, seed;
        struct timespec began, now;
        bool good = true;
        if (argc < 2 || sscanf(argv[1], "%" SCNu64 "..%" SCNu64, &from, &to) != 2) {
                fprintf(stderr, "usage: lineages FROM..TO [--verbose]\n");
                return 2;
        }
        s->verbose = argc > 2 && strcmp(argv[2], "--verbose") == 0;
        clock_gettime(CLOCK_MONOTONIC, &began);
        for (seed = from; seed <= to && good; seed++) {
                struct verdict v = {""};
                if (!s->world.sc) {
                        first = seed;
                        poisoned_before = s->failed_jobs;
                        world_begin(&s->world, surroundings_of(seed));
                        if (s->verbose)
                                surroundings_print(s->world.around, stderr);
                }
                good = run_seed(s, seed, 0, s->verbose, &v);
                if (good && (seed + 1) % WORLD_SEEDS && seed != to)
                        continue;
                if (!good && !s->verbose)
                        run_seed(s, seed, 0, true, &(struct verdict){""});
                struct surroundings around = s->world.around;
                if (good)
                        good = end_world(s, first, seed, s->failed_jobs > poisoned_before, &v);
                else
                        world_end(&s->world);
                if (!good)
                        report(seed, first, around, &v);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (good && to - from >= 4999)
                good = covered(s);
        if (s->verbose)
                for (int i = 0; i < OPERATORS_N; i++)
                        printf("%8" PRIu64 " %s\n", s->operators[i], operator_names[i]);
        if (good)
                printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " operators, %" PRIu64 " rows, %" PRIu64
                       " jobs that had to fail, %" PRIu64
                       " that were not waited for, %d tasks that failed, %d that spilled, %d stages by way of the wire; all "
                       "right, %.1f s\n",
                       from, to, s->nodes, s->rows, s->failed_jobs, s->futures, s->tally.failed_tasks,
                       s->tally.spilled_tasks, s->tally.stages_by_wire,
                       (double)(now.tv_sec - began.tv_sec) + (double)(now.tv_nsec - began.tv_nsec) / 1e9);
        free(s);
        return good ? 0 : 1;
}
