/* Detects executors that fit on no worker, which would wait forever. Spark's master only logs this, while nothing
 * else runs. Here the application is notified, with the numbers, because its user can change them.
 *
 * The check runs for a profile without executors that got none. It stops at the first worker that could hold one when
 * empty, so on a full cluster it costs one step. The notification is sent once, until the profile gets an executor.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "standalone/core/master_state.h"

static int amount_of(const struct master_worker *w, const char *name)
{
        for (int i = 0; i < w->n_resources; i++)
                if (strcmp(w->resources[i].name, name) == 0)
                        return w->resources[i].n;
        return 0;
}

/* Returns the number of resources that this worker lacks even when it is empty. */
static int count_missing_resources(const struct master_worker *w, const struct app_profile *p)
{
        int n = (w->cores < MAX(p->cores, 1)) + (w->memory < p->memory);

        for (int i = 0; i < p->needs.n; i++)
                n += amount_of(w, p->needs.data[i].name) < p->needs.data[i].amount;
        return n;
}

/* Compares by the rarest resource first. */
static bool is_larger(const struct master_worker *a, const struct master_worker *b, const struct app_profile *p)
{
        for (int i = 0; i < p->needs.n; i++) {
                int x = amount_of(a, p->needs.data[i].name), y = amount_of(b, p->needs.data[i].name);

                if (x != y)
                        return x > y;
        }
        if (a->memory != b->memory)
                return a->memory > b->memory;
        return a->cores != b->cores ? a->cores > b->cores : strcmp(a->id, b->id) < 0;
}

/* Returns the worker that comes nearest, or NULL if a worker could hold an executor, or if there are no workers. */
static const struct master_worker *find_nearest_worker(const struct master *m, const struct app_profile *p)
{
        const struct master_worker *best = NULL;
        int fewest = 0;

        for (size_t i = 0; i < m->alive.len; i++) {
                const struct master_worker *w = m->alive.data[i];
                int n = count_missing_resources(w, p);

                if (n == 0)
                        return NULL;
                if (!best || n < fewest || (n == fewest && is_larger(w, best, p))) {
                        best = w;
                        fewest = n;
                }
        }
        return best;
}

static void put_cores(struct buf *b, int cores)
{
        buf_printf(b, "%d core%s", cores, cores == 1 ? "" : "s");
}

/* Appends "4 cores, 1024 MiB of memory and 1 gpu": the profile's needs, or the same resources of @w. */
static void put_size(struct buf *b, const struct app_profile *p, const struct master_worker *w)
{
        put_cores(b, w ? w->cores : MAX(p->cores, 1));
        buf_printf(b, "%s %lld MiB of memory", p->needs.n ? "," : " and", (long long)(w ? w->memory : p->memory));
        for (int i = 0; i < p->needs.n; i++)
                buf_printf(b, "%s %d %s", i + 1 < p->needs.n ? "," : " and",
                           w ? amount_of(w, p->needs.data[i].name) : p->needs.data[i].amount, p->needs.data[i].name);
}

/* Appends the keys to change so that @w could hold one. */
static void put_advice(struct buf *b, const struct app_profile *p, const struct master_worker *w)
{
        const char *before = "Set";

        if (w->cores < p->cores) {
                buf_printf(b, "%s spark.executor.cores to at most %d", before, w->cores);
                before = " and";
        }
        if (w->memory < p->memory) {
                buf_printf(b, "%s spark.executor.memory to at most %lldm", before, (long long)w->memory);
                before = " and";
        }
        for (int i = 0; i < p->needs.n; i++) {
                const struct resource_need *need = &p->needs.data[i];

                if (amount_of(w, need->name) >= need->amount)
                        continue;
                buf_printf(b, "%s spark.executor.resource.%s.amount to at most %d", before, need->name,
                           amount_of(w, need->name));
                before = " and";
        }
        buf_puts(b, ", or start a larger worker.");
}

static void put_limit(struct buf *b, const struct master_app *app, const struct app_profile *p)
{
        buf_puts(b, "No executor can be started: each is to have ");
        put_cores(b, p->cores);
        buf_puts(b, ", and the application may have ");
        put_cores(b, app->cores_limit);
        buf_printf(b, " (%s). Set spark.cores.max to at least %d, or spark.executor.cores to at most %d.",
                   app->max_cores ? "spark.cores.max"
                                  : "spark.deploy.defaultCores of the master, without spark.cores.max",
                   p->cores, app->cores_limit);
}

void master_check_fit(struct master *m, struct master_app *app, struct app_profile *p)
{
        struct buf text = BUF_INIT;
        const struct master_worker *w;

        if (p->told_misfit || !p->known || p->executors > 0 || p->target == 0)
                return;
        if (app->cores_limit < p->cores) {
                put_limit(&text, app, p);
        } else if ((w = find_nearest_worker(m, p))) {
                buf_puts(&text, "No worker can ever hold an executor of ");
                put_size(&text, p, NULL);
                if (m->alive.len == 1)
                        buf_printf(&text, ": the only worker, %s, has ", w->id);
                else
                        buf_printf(&text, ": of %zu workers %s comes nearest, with ", m->alive.len, w->id);
                put_size(&text, p, w);
                buf_puts(&text, ". ");
                put_advice(&text, p, w);
        }
        if (text.len > 0) {
                p->told_misfit = true;
                master_emit(m, (struct master_action){MASTER_EXECUTORS_DO_NOT_FIT, .peer = app->peer, .app = app,
                                                      .text = mem_strdup(buf_text(&text))});
        }
        buf_deinit(&text);
}
