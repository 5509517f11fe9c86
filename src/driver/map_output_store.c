/*
 * The driver's store of map outputs that outlive executors (shuffle/remote_shuffle.h), and the journal of other places.
 * Implements functions for backends (scheduler_backend.h).
 */
#include "driver/job_runner_internal.h"

#include "shuffle/remote/object_lease.h"

/* Another driver that has the application uses its map outputs. */
static bool map_output_store_owns_directory(void *owner)
{
        const struct fst_context *sc = owner;
        return resume_may_commit(sc->resume);
}

bool job_runner_may_remove(const struct job_runner *r)
{
        return resume_may_commit(r->sc->resume);
}

int job_runner_earlier_remote(const struct job_runner *r, const fst_bytes **records, size_t *n)
{
        *records = resume_earlier_remote(r->sc->resume, n);
        return r->sc->resume ? resume_epoch(r->sc->resume) : 0;
}

void job_runner_journal_remote(struct job_runner *r, const void *record, size_t size, bool strict)
{
        resume_put_remote(r->sc->resume, record, size);
        if (strict)
                resume_sync(r->sc->resume);
}

/* The next driver must know the directory as soon as it exists. */
static void map_output_store_begins(void *owner, const char *directory)
{
        const struct fst_context *sc = owner;
        resume_store(sc->resume, directory);
        resume_sync(sc->resume);
}

int job_runner_open_store(struct job_runner *r, struct fst_error *error)
{
        struct fst_context *sc = r->sc;
        struct object_lease_options options = {.app_id = sc->app_id,
                                               .earlier = resume_earlier_store(sc->resume),
                                               .owns_directory = map_output_store_owns_directory,
                                               .begins = map_output_store_begins,
                                               .owner = sc};
        return object_lease_new(sc->conf, &options, &sc->remote_shuffle, error);
}

int32_t job_runner_writer(const struct job_runner *r, int executor)
{
        return resume_writer(r->sc->resume, executor);
}

void job_runner_keep_writer(struct job_runner *r, int executor, int32_t writer)
{
        resume_keep_writer(r->sc->resume, executor, writer);
}

void job_runner_keep_io_key(struct job_runner *r)
{
        resume_keep_io_key(r->sc->resume);
}
