/*
 * See world.h. Only this file uses internals of the engine: to encode stages and limit memory, and to count these events.
 */
#include "world.h"

#include "driver/backend/wire_fixture.h"
#include "store/memory.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

static struct world *world; /* the current one */

static void world_launched(fst_context *sc, struct task_batch *run)
{
        if (!world->around.by_wire)
                return;
        __atomic_add_fetch(&world->tally.stages_by_wire, 1, __ATOMIC_RELAXED);
        by_wire.launched(sc, run);
}

static void world_done(fst_context *sc, struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                __atomic_add_fetch(&world->tally.failed_tasks, t->state == TASK_FAILED, __ATOMIC_RELAXED);
                __atomic_add_fetch(&world->tally.spilled_tasks, t->counters.disk_spilled > 0, __ATOMIC_RELAXED);
        }
        if (world->around.by_wire)
                by_wire.done(sc, run);
}

static const struct local_backend_probe probe = {.launched = world_launched, .done = world_done};

struct surroundings surroundings_of(uint64_t seed)
{
        uint64_t block = seed / WORLD_SEEDS, rest = block / 4;
        return (struct surroundings){.cores = 1 + (int)(block % 4),
                                     .parallelism = rest / 4 % 3 == 1 ? 1 + (int)(rest % 6) : 0,
                                     .little_memory = rest % 2 == 1,
                                     .by_wire = rest / 2 % 2 == 1,
                                     .off_heap = rest / 4 % 2 == 1};
}

void surroundings_print(struct surroundings around, FILE *out)
{
        fprintf(out, "local[%d,4], %s memory%s, spark.default.parallelism %d, %s\n", around.cores,
                around.little_memory ? "little" : "much", around.off_heap ? " and some off heap" : "",
                around.parallelism, around.by_wire ? "stages go by way of the wire" : "stages stay in the process");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
        return remove(path);
}

static void set(fst_conf *conf, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void set(fst_conf *conf, const char *key, const char *format, ...)
{
        char value[200];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(value, sizeof(value), format, arguments);
        va_end(arguments);
        fst_conf_set(conf, key, value);
}

void world_begin(struct world *w, struct surroundings around)
{
        fst_conf *conf = fst_conf_new();
        const char *log = getenv("LINEAGES_LOG"), *folder = getenv("TMPDIR");
        if (!folder && access("/dev/shm", W_OK) == 0)
                folder = "/dev/shm"; /* makes many small files */
        w->around = around;
        snprintf(w->folder, sizeof(w->folder), "%.40s/firesteel-lineages-XXXXXX", folder ? folder : "/tmp");
        if (!mkdtemp(w->folder)) {
                perror(w->folder);
                exit(2);
        }
        set(conf, "spark.master", "local[%d,4]", around.cores);
        set(conf, "spark.app.name", "lineages");
        set(conf, "spark.log.level", "%s", log ? log : "OFF");
        set(conf, "spark.local.dir", "%s/local", w->folder);
        set(conf, "spark.checkpoint.dir", "%s/checkpoints", w->folder);
        set(conf, "spark.firesteel.join.broadcastThreshold", "0"); /* the plan says which joins are broadcast */
        if (around.parallelism)
                set(conf, "spark.default.parallelism", "%d", around.parallelism);
        if (around.little_memory) {
                set(conf, "spark.driver.memory", "32m");
                set(conf, "spark.memory.fraction", "%.1f", 0.2 * around.cores);
        }
        if (around.off_heap) {
                set(conf, "spark.memory.offHeap.enabled", "true");
                set(conf, "spark.memory.offHeap.size", "1m");
        }
        w->tally = (struct tally){0};
        world = w;
        local_backend_set_probe(&probe);
        w->sc = fst_context_new_conf(conf);
        if (!w->sc) {
                fprintf(stderr, "there is no context: LINEAGES_LOG=ERROR says why\n");
                exit(2);
        }
        if (around.little_memory)
                memory_manager_set_pressure(w->sc->env.memory, (unsigned)around.cores);
        w->sc->env.slices = &slices_of_driver;
        w->sc->env.slice_owner = w->sc;
}

bool world_end(struct world *w)
{
        int r = fst_context_stop(w->sc);
        w->sc = NULL;
        local_backend_set_probe(NULL);
        nftw(w->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return r == 0;
}

const char *world_misses(const struct world *w)
{
        const struct tally *t = &w->tally;
        return t->failed_tasks == 0                               ? "no task failed"
               : t->stages_by_wire == 0 && w->around.by_wire      ? "no stage went by way of the wire"
               : t->spilled_tasks == 0 && w->around.little_memory ? "no task spilled"
                                                                  : NULL;
}
