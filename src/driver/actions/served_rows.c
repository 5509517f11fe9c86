/*
 * Serves the rows of actions on sockets; see firesteel/frames.h.
 *
 * Each fst_served has a detached thread. `registry.lock` guards the list of all of them and the fields that say so. The
 * last of two frees it: its thread, and fst_served_release or the stop of the context.
 */
#include "driver/actions/served_rows.h"

#include "base/live_handles.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/actions/actions.h"
#include "driver/actions/checkpoint.h"
#include "driver/actions/preliminary_jobs.h"
#include "driver/actions/result_rows.h"
#include "driver/actions/served_socket.h"
#include "driver/cleaner.h"
#include "driver/context_handles.h"
#include "driver/local_properties.h"
#include "store/page.h"

#include <firesteel/frames.h>

/* The job of one partition. */
struct partition_job {
        struct rows_job rows;
        struct job_request request;
        fst_served *served;
        int partition, job;
        bool submitted, ended; /* `ended` under registry.lock */
        int status;
        struct fst_error error;
};

struct fst_served {
        fst_served *next; /* in the registry */
        fst_rdd *rdd;
        fst_context *sc;
        fst_site site;
        char *call_site;
        struct served_socket socket;
        int64_t timeout_ms;
        int stopped; /* atomic */

        struct page *pages; /* fst_serve_rows: the rows */

        bool prefetch; /* fst_serve_partitions */
        bool pinned;   /* the RDD, until the last job has ended */
        struct strmap properties;
        struct partition_job jobs[2]; /* of even and odd partitions */

        bool by_partition, done, released; /* the last two under registry.lock, as the status */
        int status;
        struct fst_error error;
};

static struct {
        pthread_mutex_t lock;
        pthread_cond_t changed; /* a thread or a job has ended */
        fst_served *first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void served_free(fst_served *s)
{
        if (s->pinned)
                cleaner_unpin(s->rdd);
        served_socket_deinit(&s->socket);
        page_list_free(NULL, s->pages);
        strmap_deinit(&s->properties);
        error_deinit(&s->error);
        free(s->call_site);
        free(s);
}

/* Removes @s from the registry, whose lock the caller holds. */
static void served_unlink(fst_served *s)
{
        fst_served **at = &registry.first;
        while (*at != s)
                at = &(*at)->next;
        *at = s->next;
}

/* The thread of @s ends with @status. Takes @error's message. */
static void served_finish(fst_served *s, int status, struct fst_error *error)
{
        if (s->pinned)
                cleaner_unpin(s->rdd);
        s->pinned = false;
        served_socket_close(&s->socket);
        page_list_free(NULL, steal(s->pages));
        pthread_mutex_lock(&registry.lock);
        s->status = status;
        s->error = *error;
        *error = FST_ERROR_INIT;
        s->done = true;
        bool last = s->released;
        if (last)
                served_unlink(s);
        pthread_cond_broadcast(&registry.changed);
        pthread_mutex_unlock(&registry.lock);
        if (last)
                served_free(s);
}

/* True if the client has closed its end, which is not a failure. */
static bool served_client_left(int r)
{
        return r == -EPIPE || r == -ECONNRESET;
}

/* -------------------------------------------------------------------------------------------------------- rows */

static int served_send_rows(fst_served *s, struct fst_error *error)
{
        int r = served_socket_put_rows(&s->socket, &s->pages);
        if (r == 0)
                r = served_socket_flush(&s->socket);
        if (r == 0 || served_client_left(r))
                return 0;
        return error_set(error, r, "rows could not be sent: %s", strerror(-r));
}

/* -------------------------------------------------------------------------------------------------- partitions */

static void partition_job_ended(void *owner, int status, struct fst_error *error)
{
        struct partition_job *job = owner;
        pthread_mutex_lock(&registry.lock);
        job->status = status;
        job->error = *error;
        *error = FST_ERROR_INIT;
        job->ended = true;
        pthread_cond_broadcast(&registry.changed);
        pthread_mutex_unlock(&registry.lock);
}

/* Submits the job of @partition, unless it was or there is no such partition. */
static void served_submit(fst_served *s, int partition)
{
        struct partition_job *job = &s->jobs[partition % 2];
        if (job->submitted || partition >= s->rdd->lineage.partitions)
                return;
        *job = (struct partition_job){.served = s, .partition = partition, .job = -1, .submitted = true};
        job->rows.rows = rows_action_of(&rows_action_class, s->rdd, s->rdd->type, INT64_MAX);
        int r = rows_job_prepare(&job->rows, s->rdd, 1, &job->error);
        if (r) {
                job->status = r;
                job->ended = true;
                return;
        }
        job->request = (struct job_request){.rdd = s->rdd,
                                            .partitions = &job->partition,
                                            .n = 1,
                                            .action = &job->rows.rows.action,
                                            .call_site = s->call_site,
                                            .scope = s->site.operation,
                                            .job = &job->job};
        job_runner_submit(s->sc->runner, &job->request, &s->properties, partition_job_ended, job);
}

/* Waits for the job of @partition. *@pages receives its rows. Returns 0, or negative with @error. */
static int served_await(fst_served *s, int partition, struct page **pages, struct fst_error *error)
{
        struct partition_job *job = &s->jobs[partition % 2];
        pthread_mutex_lock(&registry.lock);
        while (!job->ended)
                pthread_cond_wait(&registry.changed, &registry.lock);
        pthread_mutex_unlock(&registry.lock);
        int r = job->status;
        if (r == 0)
                *pages = rows_job_take(&job->rows, NULL);
        else
                error_set(error, r, "%s", error_message(&job->error));
        error_deinit(&job->error);
        rows_job_deinit(&job->rows);
        job->submitted = false;
        return r;
}

/* Cancels a job that was started ahead. */
static void served_cancel(fst_served *s, int partition)
{
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages = NULL;
        struct partition_job *job = &s->jobs[partition % 2];
        if (!job->submitted)
                return;
        job_runner_cancel_submitted(s->sc->runner, &job->job);
        if (served_await(s, partition, &pages, &error))
                error_deinit(&error);
        page_list_free(NULL, pages);
}

static int served_compute(fst_served *s, int partition, struct fst_error *error)
{
        _cleanup_(context_leave) fst_context *in = context_enter(s->sc);
        int r = partition == 0 ? preliminary_jobs_run(s->rdd, s->site, error) : 0;
        if (r)
                return r;
        if (!s->jobs[partition % 2].submitted)
                served_submit(s, partition);
        if (s->prefetch)
                served_submit(s, partition + 1);
        r = served_await(s, partition, &s->pages, error);
        return r || partition ? r : checkpoint_after_job(s->rdd, s->site, error);
}

/* Sends partition @partition. Returns 0, or negative: with a message in @error if not the socket failed. */
static int served_send_partition(fst_served *s, int partition, struct fst_error *error)
{
        int r = served_compute(s, partition, error);
        if (r) {
                if (served_socket_put_int(&s->socket, -1) == 0)
                        (void)served_socket_flush(&s->socket);
                return r;
        }
        r = served_socket_put_int(&s->socket, 1);
        if (r == 0)
                r = served_socket_put_rows(&s->socket, &s->pages);
        if (r == 0)
                r = served_socket_put_int(&s->socket, -1);
        return r ? r : served_socket_flush(&s->socket);
}

static int served_send_partitions(fst_served *s, struct fst_error *error)
{
        int32_t wanted = 0;
        int r = 0, next = 0;
        while (r == 0 && (r = served_socket_read_int(&s->socket, &wanted)) == 0 && wanted != 0) {
                if (next < s->rdd->lineage.partitions) {
                        r = served_send_partition(s, next++, error);
                        continue;
                }
                r = served_socket_put_int(&s->socket, 0);
                if (r == 0)
                        r = served_socket_flush(&s->socket);
                break;
        }
        served_cancel(s, next);
        if (r == 0 || error->message)
                return r;
        return served_client_left(r) ? 0 : error_set(error, r, "partitions could not be sent: %s", strerror(-r));
}

/* ----------------------------------------------------------------------------------------------- the thread */

static void *served_main(void *data)
{
        fst_served *s = data;
        struct fst_error error = FST_ERROR_INIT;
        pthread_setname_np(pthread_self(), s->by_partition ? "serve-partition" : "serve-rows");
        if (s->properties.count)
                strmap_merge(local_properties(s->sc, true), &s->properties);
        int r = served_socket_accept(&s->socket, s->timeout_ms, &error);
        if (r == 0)
                r = s->by_partition ? served_send_partitions(s, &error) : served_send_rows(s, &error);
        if (r && r != -ECANCELED && r != -ESHUTDOWN)
                log_error("SparkContext", "%s: %s", s->call_site, error_message(&error));
        served_finish(s, r, &error);
        return NULL;
}

static int served_start_thread(fst_served *s, struct fst_error *error)
{
        pthread_attr_t detached;
        pthread_t thread;
        pthread_attr_init(&detached);
        pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
        int r = -pthread_create(&thread, &detached, served_main, s);
        pthread_attr_destroy(&detached);
        return r ? error_set(error, r, "no thread can be started to serve rows: %s", strerror(-r)) : 0;
}

/* PYSPARK_UDS_MODE is the default of spark.python.unix.domain.socket.enabled. */
static bool served_environment_wants_path(const struct fst_conf *conf)
{
        const char *mode = getenv("PYSPARK_UDS_MODE");
        return mode && strcmp(mode, "true") == 0 && !conf_contains(conf, "spark.python.unix.domain.socket.enabled");
}

/* Opens the socket of @s and starts its thread. On failure frees @s. */
static int served_start(fst_served *s, struct fst_error *error)
{
        const struct fst_conf *conf = s->sc->conf;
        bool on_path = false;
        const char *dir = NULL;
        struct strmap *local = local_properties(s->sc, false);
        s->socket.listener = s->socket.fd = -1;
        if (local)
                strmap_merge(&s->properties, local);
        int r = conf_get_ms(conf, "spark.python.authenticate.socketTimeout", &s->timeout_ms, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.python.unix.domain.socket.enabled", &on_path, error);
        if (r == 0 && (on_path || served_environment_wants_path(conf)) &&
            !(dir = conf_get_value(conf, "spark.python.unix.domain.socket.dir")))
                dir = "/tmp";
        if (r == 0)
                r = served_socket_open(&s->socket, dir, &s->stopped, error);
        pthread_mutex_lock(&registry.lock);
        s->next = registry.first;
        registry.first = s;
        pthread_mutex_unlock(&registry.lock);
        live_handle_add(HANDLE_SERVED, s);
        if (r == 0)
                r = served_start_thread(s, error);
        if (r) {
                live_handle_remove(HANDLE_SERVED, s);
                pthread_mutex_lock(&registry.lock);
                served_unlink(s);
                pthread_mutex_unlock(&registry.lock);
                served_free(s);
        }
        return r;
}

static fst_served *served_new(fst_rdd *rdd, fst_site site)
{
        fst_served *s = new0(fst_served);
        s->rdd = rdd;
        s->sc = rdd->sc;
        s->site = site;
        s->call_site = rdd_call_site(rdd->sc, site);
        return s;
}

static int served_check(fst_rdd *frames, struct fst_error *error)
{
        char text[64];
        int r = action_check(frames, error);
        if (r == 0 && !fst_type_equal(frames->type, FST_BYTES))
                r = error_set(error, -EINVAL, "only frames can be served, not rows of %s: see fst_frames_from_rows",
                              fst_type_name(frames->type, text));
        return r;
}

FST_API int fst_serve_rows_at(fst_rdd *frames, const int *partitions, size_t n, fst_served **served, fst_site site)
{
        frames = rdd_given(frames, site);
        if (action_check_place(frames, served, "socket", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(frames->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct rows_job job = {rows_action_of(&rows_action_class, frames, frames->type, INT64_MAX)};
        int r = served_check(frames, &error);
        if (r == 0)
                r = action_check_partitions(frames, partitions, n, &error);
        if (r == 0)
                r = rows_job_run(&job, frames, partitions, (int)n, site, &error);
        if (r == 0) {
                fst_served *s = served_new(frames, site);
                s->pages = rows_job_take(&job, NULL);
                r = served_start(s, &error);
                if (r == 0)
                        *served = s;
        }
        rows_job_deinit(&job);
        return r ? action_failed(frames, site, r, &error) : 0;
}

FST_API int fst_serve_partitions_at(fst_rdd *frames, bool prefetch, fst_served **served, fst_site site)
{
        frames = rdd_given(frames, site);
        if (action_check_place(frames, served, "socket", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(frames->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = served_check(frames, &error);
        if (r == 0) {
                fst_served *s = served_new(frames, site);
                s->by_partition = s->pinned = true;
                cleaner_pin(frames);
                s->prefetch = prefetch;
                r = served_start(s, &error);
                if (r == 0)
                        *served = s;
        }
        return r ? action_failed(frames, site, r, &error) : 0;
}

/* ------------------------------------------------------------------------------------------------- handles */

FST_API int fst_served_port(const fst_served *s)
{
        s = handle_given(HANDLE_SERVED, s, "served_port");
        return s ? s->socket.port : 0;
}

FST_API const char *fst_served_secret(const fst_served *s)
{
        s = handle_given(HANDLE_SERVED, s, "served_secret");
        return s && !s->socket.path ? s->socket.secret : NULL;
}

FST_API const char *fst_served_path(const fst_served *s)
{
        s = handle_given(HANDLE_SERVED, s, "served_path");
        return s ? s->socket.path : NULL;
}

FST_API int fst_served_wait(fst_served *s)
{
        s = handle_given(HANDLE_SERVED, s, "served_wait");
        if (!s)
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(s->sc);
        pthread_mutex_lock(&registry.lock);
        while (!s->done)
                pthread_cond_wait(&registry.changed, &registry.lock);
        int r = s->status;
        pthread_mutex_unlock(&registry.lock);
        return r;
}

FST_API const char *fst_served_error(const fst_served *s)
{
        s = handle_given(HANDLE_SERVED, s, "served_error");
        if (!s)
                return NULL;
        pthread_mutex_lock(&registry.lock);
        const char *message = s->done && s->status ? error_message(&s->error) : NULL;
        pthread_mutex_unlock(&registry.lock);
        return message;
}

FST_API void fst_served_release(fst_served *s)
{
        s = s ? (fst_served *)handle_given(HANDLE_SERVED, s, "served_release") : NULL;
        if (!s || !live_handle_remove(HANDLE_SERVED, s))
                return;
        pthread_mutex_lock(&registry.lock);
        s->released = true;
        bool last = s->done;
        if (last)
                served_unlink(s);
        pthread_mutex_unlock(&registry.lock);
        if (last)
                served_free(s);
}

/* ------------------------------------------------------------------------------------------- the context stops */

void served_rows_stop(struct fst_context *sc)
{
        pthread_mutex_lock(&registry.lock);
        for (fst_served *s = registry.first; s; s = s->next)
                if (s->sc == sc)
                        __atomic_store_n(&s->stopped, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&registry.lock);
}

void served_rows_free(struct fst_context *sc)
{
        pthread_mutex_lock(&registry.lock);
        for (fst_served **at = &registry.first; *at;) {
                fst_served *s = *at;
                if (s->sc != sc) {
                        at = &s->next;
                        continue;
                }
                if (!s->done) { /* also one that started since served_rows_stop */
                        __atomic_store_n(&s->stopped, 1, __ATOMIC_RELAXED);
                        pthread_cond_wait(&registry.changed, &registry.lock);
                        at = &registry.first;
                        continue;
                }
                *at = s->next;
                live_handle_remove(HANDLE_SERVED, s);
                served_free(s);
        }
        pthread_mutex_unlock(&registry.lock);
}
