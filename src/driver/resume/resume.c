/* See resume.h: the application's journal, from its start to its end. */
#include "driver/resume/resume_internal.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/redact.h"
#include "driver/accumulators.h"
#include "driver/context.h"
#include "driver/resume/ended_journals.h"
#include "driver/job_runner.h"
#include "io/fs/file_systems.h"
#include "journal/fields.h"
#include "journal/frame.h"
#include "journal/place.h"
#include "journal/writer.h"

#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#define TASK_ID_RESERVE INT64_C(1000000)
#define EXECUTOR_ID_RESERVE INT64_C(10000)
#define MAX_FOLDED_JOURNAL ((uint64_t)256 << 20) /* a larger one is not read to be folded */
#define REMOTE_INTERVAL_MS 1000 /* between a task's end and its record in a place to which each write is a request */
#define REMOTE_FRESH_MS 100     /* the age of a look at such a place that still allows a task to commit */

struct buf *resume_record_begin(struct resume *r, enum resume_record kind, size_t *place)
{
        struct buf *b = journal_writer_begin(r->writer);
        *place = journal_record_begin(b, (uint8_t)kind);
        return b;
}

void resume_record_end(struct resume *r, struct buf *b, size_t place)
{
        journal_record_end(b, place);
        journal_writer_end(r->writer);
}

void resume_sync(struct resume *r)
{
        if (r && r->writer)
                journal_writer_sync(r->writer);
}

uint64_t resume_request_write(struct resume *r)
{
        return journal_writer_request(r->writer);
}

bool resume_may_commit(struct resume *r)
{
        return !r || !r->writer ||
               journal_writer_check_epoch(r->writer, journal_place_is_remote(r->place) ? REMOTE_FRESH_MS : 0);
}

void resume_check_epoch(struct resume *r)
{
        if (r && r->writer && journal_place_is_remote(r->place))
                journal_writer_look(r->writer);
        else
                resume_may_commit(r);
}

bool resume_is_resumed(const struct resume *r)
{
        return r && r->resumed;
}

int resume_epoch(const struct resume *r)
{
        return r ? r->epoch : 1;
}

int64_t resume_first_task_id(const struct resume *r)
{
        return r ? r->history.last_task_id + 1 : 0;
}

void resume_broadcast(struct resume *r, int64_t id, const void *data, size_t size)
{
        if (r)
                signatures_add_broadcast(&r->signatures, id, data, size);
}

/*
 * Another driver has the application. This one must not touch anything of it any more, so no hook runs: only the files
 * that no other process uses are removed.
 */
static void resume_on_superseded(void *owner)
{
        struct resume *r = owner;
        log_error(RESUME_LOG,
                  "Another driver has taken over application %s (epoch %d or later; this driver has epoch %d), or its "
                  "journal was removed. This driver ends at once and commits nothing",
                  r->sc->app_id, r->epoch + 1, r->epoch);
        exec_env_remove_files(&r->sc->env);
        _exit(1);
}

static void resume_on_written(void *owner, uint64_t position)
{
        const struct resume *r = owner;
        job_runner_journaled(r->sc->runner, position);
}

/*
 * Reads the whole journal, which an earlier driver may have begun, and folds it, unless that saves less than a tenth.
 * The next fold comes when as much has been added again.
 */
static bool resume_on_fold(void *owner, struct buf *body)
{
        struct resume *r = owner;
        struct journal_epochs epochs = {0};
        struct history all;
        history_init(&all);
        uint64_t size = 0;
        int status = journal_epochs_read(r->place, journal_place_epoch(r->place), &epochs, &all, NULL);
        for (size_t i = 0; i < epochs.len; i++)
                size += epochs.data[i].bytes.len;
        const bool reads = status == 0 && all.application.id && size < MAX_FOLDED_JOURNAL;
        if (reads)
                history_put(&all, body);
        const bool pays = reads && body->len < size - size / 10;
        const uint64_t left = pays ? body->len : size;
        __atomic_store_n(&r->fold_at, journal_writer_position(r->writer) + MAX(left, r->fold_size), __ATOMIC_RELAXED);
        if (pays)
                log_info(RESUME_LOG, "Folding the journal from %" PRIu64 " to %zu bytes", size, body->len);
        history_deinit(&all);
        journal_epochs_deinit(&epochs);
        return pays;
}

void resume_fold_if_large(struct resume *r)
{
        if (r->fold_size && journal_writer_position(r->writer) >= __atomic_load_n(&r->fold_at, __ATOMIC_RELAXED)) {
                __atomic_store_n(&r->fold_at, UINT64_MAX, __ATOMIC_RELAXED); /* until that one is done */
                journal_writer_fold(r->writer);
        }
}

/* Executors of the earlier driver also look for the next one at its address. */
static void resume_prefer_port(struct resume *r)
{
        _cleanup_(buf_deinit) struct buf url = BUF_INIT;
        int64_t port;
        if (conf_get_int(r->sc->conf, "spark.driver.port", &port, NULL) || port != 0 ||
            journal_place_find_driver(r->place, 0, &url, NULL) <= 0)
                return;
        const char *at = strrchr(buf_text(&url), ':');
        if (at && atoi(at + 1) > 0 && atoi(at + 1) <= UINT16_MAX)
                conf_set(r->sc->conf, "spark.driver.port", at + 1);
}

/* Takes an epoch, then reads the earlier ones. A journal that cannot be read is not an error of the application. */
static int resume_take(struct resume *r, const char *id, struct fst_error *error)
{
        const char *directory = conf_get_raw(r->sc->conf, "spark.firesteel.resume.dir");
        int newest = 0;
        int status = journal_place_check_id(id, error);
        if (status)
                return error_wrap(error, status, "spark.firesteel.resume.id or spark.app.id");
        status = journal_place_open(directory, id, &r->place, error);
        if (status == 0)
                status = newest = journal_place_newest(r->place, error);
        if (status >= 0)
                status = newest >= MAX_JOURNAL_EPOCH
                                 ? error_set(error, -EOVERFLOW, "%s has no epoch left", journal_place_path(r->place))
                                 : journal_place_take(r->place, newest + 1, error);
        if (status < 0)
                return error_wrap(error, status, "spark.firesteel.resume.dir");
        r->epoch = newest + 1;
        struct fst_error unread = FST_ERROR_INIT;
        if (journal_epochs_read(r->place, newest, &r->epochs, &r->history, &unread) < 0) {
                log_warn(RESUME_LOG, "The application starts from the beginning: %s", error_message(&unread));
                const int64_t last = r->history.last_task_id, next_executor = r->history.next_executor_id;
                journal_epochs_deinit(&r->epochs);
                history_deinit(&r->history);
                history_init(&r->history);
                r->history.last_task_id = last + TASK_ID_RESERVE * newest; /* those that were not read */
                r->history.next_executor_id =
                        (int)MIN(next_executor + EXECUTOR_ID_RESERVE * newest, (int64_t)MAX_EXECUTOR_ID);
        }
        error_deinit(&unread);
        r->resumed = r->history.application.id != NULL;
        if (r->resumed)
                resume_prefer_port(r);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- writing */

/* Whether an argument NAME=VALUE is a secret. The path of a file with the secret of spark.authenticate is none. */
static bool resume_word_is_secret(const struct redactor *redactor, const char *word)
{
        const char *equals = strchr(word, '=');
        _cleanup_free_ char *key = equals ? mem_strndup(word, (size_t)(equals - word)) : NULL;
        const bool is_path = key && text_starts_with(key, "spark.authenticate.secret.") && text_ends_with(key, ".file");
        return key && !is_path && strcmp(redactor_value(redactor, key, equals + 1), REDACTED) == 0;
}

/* Replaces the words if one of them is a secret, because the journal must not hold any. */
static void resume_put_words(struct resume *r, struct resume_application *app)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        struct redactor redactor;
        bool secret = redactor_init(&redactor, r->sc->conf, NULL) != 0;
        if (secret || file_text_read("/proc/self/cmdline", 1 << 20, &line, NULL))
                return;
        for (size_t at = 0; at < line.len; at += strlen(line.data + at) + 1) {
                const char *word = line.data + at;
                secret |= resume_word_is_secret(&redactor, word);
                vec_push(&app->words, mem_strdup(word));
        }
        redactor_deinit(&redactor);
        for (size_t i = 0; secret && i < app->words.len; i++)
                free(app->words.data[i]);
        if (secret)
                app->words.len = 0;
}

static void resume_put_application(struct resume *r)
{
        struct resume_application app = {.id = mem_strdup(r->sc->app_id), .started_ms = r->sc->started_ms};
        char program[PATH_MAX], directory[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
        size_t place;
        app.token = mem_strdup(r->token);
        app.program = mem_strndup(program, n > 0 ? (size_t)n : 0);
        app.directory = mem_strdup(getcwd(directory, sizeof(directory)) ? directory : "");
        resume_put_words(r, &app);
        struct buf *b = resume_record_begin(r, RESUME_APPLICATION, &place);
        resume_application_put(b, &app);
        resume_record_end(r, b, place);
        resume_application_deinit(&app);
}

static void resume_put_earlier(struct resume *r)
{
        size_t place;
        for (size_t i = 0; i < r->epochs.len; i++) {
                struct buf *b = resume_record_begin(r, RESUME_EARLIER, &place);
                fields_put_number(b, (uint64_t)r->epochs.data[i].epoch);
                fields_put_number(b, r->epochs.data[i].good);
                resume_record_end(r, b, place);
        }
        if (r->resumed || r->epoch == 1)
                return;
        struct buf *b = resume_record_begin(r, RESUME_VOID, &place);
        fields_put_number(b, 0);
        fields_put_number(b, 0);
        resume_record_end(r, b, place);
}

void resume_launched(struct resume *r, int64_t task_id)
{
        size_t place;
        if (!r || task_id + TASK_ID_RESERVE / 2 < r->reserved)
                return;
        r->reserved = task_id + TASK_ID_RESERVE;
        struct buf *b = resume_record_begin(r, RESUME_TASKS, &place);
        fields_put_number(b, (uint64_t)r->reserved);
        resume_record_end(r, b, place);
}

/* ---------------------------------------------------------------------------------------------------- start and end */

/* The id of the application's journal if it is known before the application has an id. Owned by the caller. */
static char *resume_known_id(struct fst_context *sc)
{
        const char *given = conf_get_raw(sc->conf, "spark.firesteel.resume.id"), *variable = getenv(RESUME_VARIABLE);
        char *id = mem_strdup_if(given && *given ? given : variable && *variable ? variable : NULL);
        unsetenv(RESUME_VARIABLE); /* programs that the application starts are other applications */
        return id ? id : mem_strdup_if(conf_get_raw(sc->conf, "spark.app.id"));
}

/* The start time, which seeds random numbers, and the attempt, which names the event log. */
static void resume_set_identity(struct resume *r)
{
        r->sc->started_ms = r->history.application.started_ms;
        free(r->token);
        r->token = mem_strdup(r->history.application.token);
        if (!r->sc->attempt_id)
                r->sc->attempt_id = mem_printf("%d", r->epoch);
}

/*
 * Executors with encrypted files give the next driver their key. Without spark.authenticate they do not wait, because
 * they cannot know that the next driver is the application's.
 */
int resume_executors_wait(const struct fst_conf *conf, bool *wait, struct fst_error *error)
{
        int64_t timeout_ms;
        bool enabled, encrypted, authenticated;
        int status = conf_get_bool(conf, "spark.firesteel.resume.enabled", &enabled, error);
        if (status == 0)
                status = conf_get_ms(conf, "spark.firesteel.resume.executorTimeout", &timeout_ms, error);
        if (status == 0)
                status = conf_get_bool(conf, "spark.io.encryption.enabled", &encrypted, error);
        if (status == 0)
                status = conf_get_bool(conf, "spark.authenticate", &authenticated, error);
        if (status == 0)
                *wait = enabled && timeout_ms > 0 && (!encrypted || authenticated);
        return status;
}

static int resume_read_timeouts(struct resume *r, struct fst_error *error)
{
        int status = conf_get_ms(r->sc->conf, "spark.firesteel.resume.registrationTimeout",
                                 &r->registration_timeout_ms, error);
        if (status == 0)
                status = conf_get_bool(r->sc->conf, "spark.io.encryption.enabled", &r->encrypted, error);
        return status ? status : resume_executors_wait(r->sc->conf, &r->executors_wait, error);
}

static void resume_draw_token(struct resume *r)
{
        char token[UUID_TEXT];
        uuid_draw(token);
        r->token = mem_strdup(token);
}

int resume_open(struct fst_context *sc, struct fst_error *error)
{
        bool enabled, strict;
        int64_t fold_size = 0;
        _cleanup_free_ char *id = resume_known_id(sc);
        const char *directory = conf_get_raw(sc->conf, "spark.firesteel.resume.dir");
        int status = conf_get_bool(sc->conf, "spark.firesteel.resume.enabled", &enabled, error);
        if (status == 0)
                status = conf_get_bool(sc->conf, "spark.firesteel.resume.strict", &strict, error);
        if (status == 0)
                status = conf_get_bytes(sc->conf, "spark.firesteel.resume.foldSize", &fold_size, error);
        const char *given = conf_get_raw(sc->conf, "spark.firesteel.resume.id");
        if (status == 0 && !enabled && given && *given)
                log_warn(RESUME_LOG, "spark.firesteel.resume.id has no effect: set spark.firesteel.resume.enabled=true "
                                     "to keep a journal, or leave it out");
        if (status || !enabled)
                return status;
        if (!directory || !*directory)
                return error_set(
                        error, -EINVAL,
                        "spark.firesteel.resume.enabled is true: set spark.firesteel.resume.dir to a directory "
                        "that the next driver can read");
        ended_journals_remove(true); /* the application before this one in the same process */
        struct resume *r = sc->resume = new0(struct resume);
        r->sc = sc;
        r->strict = strict;
        r->fold_size = r->fold_at = (uint64_t)MAX(fold_size, INT64_C(0));
        file_systems_use(r, &sc->conf->set); /* the context does it later */
        r->reserved = -1;
        pthread_mutex_init(&r->lock, NULL);
        signatures_init(&r->signatures);
        history_init(&r->history);
        resume_draw_token(r);
        status = resume_read_timeouts(r, error);
        if (status == 0 && id)
                status = resume_take(r, id, error);
        if (status || !r->resumed)
                return status;
        resume_set_identity(r);
        sc->app_id = mem_strdup(r->history.application.id); /* unless the manager assigns another one */
        return 0;
}

bool resume_identity(const struct resume *r, struct resume_identity *identity)
{
        if (!r)
                return false;
        *identity =
                (struct resume_identity){.earlier_id = r->history.application.id,
                                         .token = r->token,
                                         .next_executor = r->history.next_executor_id,
                                         .epoch = MAX(r->epoch, 1)}; /* 0: it has no id that it could have had before */
        return true;
}

static void resume_log_start(const struct resume *r)
{
        const char *id = strrchr(journal_place_path(r->place), '/') + 1;
        uint64_t jobs, results;
        history_count(&r->history, &jobs, &results);
        if (r->resumed)
                log_info(RESUME_LOG,
                         "Resuming application %s as its driver number %d: %" PRIu64 " jobs and %" PRIu64
                         " results of tasks are in %s",
                         r->history.application.id, r->epoch, jobs, results, journal_place_path(r->place));
        else
                log_info(RESUME_LOG, "Journaling to %s. If this driver dies: firesteel resume --dir %.*s %s",
                         journal_place_path(r->place), (int)(id - 1 - journal_place_path(r->place)),
                         journal_place_path(r->place), id);
}

int resume_start(struct fst_context *sc, struct fst_error *error)
{
        struct resume *r = sc->resume;
        struct journal_writer_options options = JOURNAL_WRITER_DEFAULT;
        int status = r && !r->place ? resume_take(r, sc->app_id, error) : 0;
        if (!r || status)
                return status;
        if (r->resumed) { /* perhaps found by the id that the manager has assigned: a second attempt on YARN */
                resume_set_identity(r);
                r->reserved_executors = r->history.next_executor_id;
        }
        if (journal_place_is_remote(r->place)) {
                options.interval_ms = REMOTE_INTERVAL_MS;
                options.looks_first = true;
        }
        options.superseded = resume_on_superseded;
        options.written = resume_on_written;
        options.fold = resume_on_fold;
        options.owner = r;
        if ((status = journal_writer_start(r->place, &options, &r->writer, error)))
                return status;
        resume_put_earlier(r);
        if (!r->resumed)
                resume_put_application(r);
        resume_launched(r, resume_first_task_id(r));
        accumulators_keep_updates(sc->accumulators);
        sc->registry.checkpoint_name = r->token;
        resume_sync(r);
        resume_log_start(r);
        return 0;
}

int resume_check_end(struct resume *r, int status)
{
        if (!r || !r->resumed || status)
                return status;
        pthread_mutex_lock(&r->lock);
        const bool skipped = !history_jobs_taken(&r->history);
        const uint64_t number = r->history.next_job;
        _cleanup_free_ char *call_site = skipped ? mem_strdup(r->history.jobs.data[number]->call_site) : NULL;
        pthread_mutex_unlock(&r->lock);
        if (skipped && r->strict)
                log_error(RESUME_LOG,
                          "The application has ended without job %" PRIu64 " (%s) of an earlier driver, or with another one in its place, "
                          "and spark.firesteel.resume.strict is true",
                          number, call_site);
        else if (skipped)
                log_warn(RESUME_LOG,
                         "The application has ended without job %" PRIu64 " (%s) of an earlier driver, or with another one in its place", number,
                         call_site);
        return skipped && r->strict ? -ESTALE : status;
}

void resume_end(struct resume *r, bool succeeded, bool main_goes_on)
{
        if (!r || !r->place)
                return;
        resume_sync(r);
        const bool done = succeeded && r->writer && resume_may_commit(r);
        if (done && main_goes_on && !journal_place_is_remote(r->place))
                r->ended = true;
        else if (done)
                journal_writer_remove(r->writer); /* and its watch: the rest of the end may take seconds */
        else
                log_info(RESUME_LOG, "The journal stays in %s", journal_place_path(r->place));
}

void resume_free(struct resume *r)
{
        if (!r)
                return;
        journal_writer_stop(r->writer);
        if (r->ended)
                ended_journals_add(steal(r->place));
        journal_place_free(r->place);
        file_systems_leave(r);
        history_deinit(&r->history);
        journal_epochs_deinit(&r->epochs);
        holdings_deinit(&r->holdings);
        signatures_deinit(&r->signatures);
        pthread_mutex_destroy(&r->lock);
        free(r->token);
        free(r);
}
