/*
 * Downloads jars into the cache (finder.h), two at a time, because more would gain little and burden the repository.
 * Locations are resolved before, so the threads share only the list.
 */
#include "ivy/finder.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2

void downloads_deinit(struct ivy_downloads *d)
{
        for (size_t i = 0; i < d->len; i++)
                free(d->data[i].message);
        vec_deinit(d);
}

struct download_place {
        const char *location, *checksums; /* as its repository has them */
};

struct download_job {
        struct download *download;
        VEC(struct download_place) places; /* tried in this order */
};

struct download_work {
        struct finder *finder;
        pthread_mutex_t lock; /* next, the finder's names and its messages */
        VEC(struct download_job) jobs;
        size_t next;
};

static void download_report(struct download_work *w, const char *form, const char *what, const char *detail, long ms)
{
        _cleanup_free_ char *line = detail ? mem_printf("\t[%s] %s: %s (%ldms)", form, what, detail, ms)
                                           : mem_printf("\t[%s] %s (%ldms)", form, what, ms);
        pthread_mutex_lock(&w->lock);
        w->finder->say(w->finder->context, line);
        pthread_mutex_unlock(&w->lock);
}

static void download_jar(struct download_work *w, struct download_job *job, struct fetcher *fetcher)
{
        struct download *d = job->download;
        long start = now_ms();
        pthread_mutex_lock(&w->lock);
        const char *text = artifact_text(w->finder->names, node_resolved_id(d->node), d->artifact);
        pthread_mutex_unlock(&w->lock);
        d->status = -ENOENT;
        for (size_t i = 0; i < job->places.len && d->status == -ENOENT; i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                const char *location = job->places.data[i].location, *checksums = job->places.data[i].checksums;
                d->status = fetch_file(fetcher, location, d->path, checksums, &d->size, &error);
                if (d->status == 0) {
                        _cleanup_free_ char *line = mem_printf("downloading %s ...", location);
                        pthread_mutex_lock(&w->lock);
                        w->finder->say(w->finder->context, line);
                        pthread_mutex_unlock(&w->lock);
                        d->location = location;
                } else if (d->status != -ENOENT) {
                        free(d->message);
                        d->message = mem_strdup(error_message(&error));
                }
        }
        d->ms = now_ms() - start;
        if (d->status == 0)
                download_report(w, "SUCCESSFUL ", text, NULL, d->ms);
        else if (d->status == -ENOENT)
                download_report(w, "NOT FOUND  ", text, NULL, d->ms);
        else
                download_report(w, "FAILED     ", text, d->message, d->ms);
}

static void *download_run(void *data)
{
        struct download_work *w = data;
        _cleanup_(fetcher_deinit) struct fetcher fetcher = {NULL, w->finder->settings->credentials,
                                                            w->finder->fetcher.silent};
        for (;;) {
                pthread_mutex_lock(&w->lock);
                struct download_job *job = w->next < w->jobs.len ? &w->jobs.data[w->next++] : NULL;
                pthread_mutex_unlock(&w->lock);
                if (!job)
                        return NULL;
                download_jar(w, job, &fetcher);
        }
}

static void download_add_locations(struct finder *f, struct download_job *job, const struct repository *r)
{
        const struct download *d = job->download;
        for (const struct repository *m = r->is_chain ? r->members : NULL; m; m = m->next_member)
                download_add_locations(f, job, m);
        for (size_t i = 0; !r->is_chain && i < r->artifact_patterns.len; i++)
                vec_push(&job->places,
                         (struct download_place){finder_location(f, r, node_resolved_id(d->node), d->artifact, i),
                                                 r->checksums});
}

void finder_download(struct finder *f, struct ivy_downloads *d)
{
        struct download_work w = {.finder = f, .lock = PTHREAD_MUTEX_INITIALIZER};
        pthread_t threads[THREADS - 1];
        int started = 0;
        for (size_t i = 0; i < d->len; i++) {
                struct download *one = &d->data[i];
                if (one->status < 0 || access(one->path, R_OK) == 0)
                        continue;
                struct download_job job = {.download = one};
                if (one->artifact->url)
                        vec_push(&job.places,
                                 (struct download_place){one->artifact->url, one->node->repository->checksums});
                download_add_locations(f, &job, one->node->repository);
                vec_push(&w.jobs, job);
        }
        while (started < THREADS - 1 && (size_t)started + 1 < w.jobs.len &&
               pthread_create(&threads[started], NULL, download_run, &w) == 0)
                started++;
        download_run(&w);
        while (started > 0)
                pthread_join(threads[--started], NULL);
        for (size_t i = 0; i < w.jobs.len; i++)
                vec_deinit(&w.jobs.data[i].places);
        vec_deinit(&w.jobs);
}
