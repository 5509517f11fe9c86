/*
 * See history_store.h. A status core is stored in pieces, so that it needs little memory on its way.
 *
 * Reading and writing have a lock each, so that a page that reads tasks from the store does not wait until another
 * application is stored. SQLite lets threads take turns, a statement's step at a time.
 *
 * The journal is a write-ahead log that is not synchronised at each transaction: a crash of the machine may lose the
 * last ones, which costs reading some logs again, but does not damage the database.
 *
 * Pages have 32 KiB: a status core of 150 MB is read in half the time that pages of 4 KiB take. Greater ones gain
 * little and make the rows of logs slower to write. A store of an earlier version keeps its pages.
 */
#include "history/history_store.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "history/sqlite_library.h"

#include <pthread.h>
#include <unistd.h>

#define LOG "HistoryStore"

enum { STORE_VERSION = 2 };

/* The statements, prepared once. */
enum history_statement {
        PUT_LOG,
        FORGET_LOG,
        FORGET_SNAPSHOT,
        FORGET_PIECES,
        PUT_SNAPSHOT,
        PUT_PIECE,
        FIND_SNAPSHOT,
        FIND_POSITION,
        USE_SNAPSHOT,
        GET_PIECES,
        SUM_SNAPSHOTS,
        OLDEST_SNAPSHOT,
        STATEMENTS
};

static const char *const history_statements[STATEMENTS] = {
        [PUT_LOG] = "INSERT OR REPLACE INTO logs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        [FORGET_LOG] = "DELETE FROM logs WHERE path = ?",
        [FORGET_SNAPSHOT] = "DELETE FROM snapshots WHERE path = ?",
        [FORGET_PIECES] = "DELETE FROM pieces WHERE path = ?",
        [PUT_SNAPSHOT] = "INSERT INTO snapshots (path, size, modified, number, limits, head, checksum, bytes, used)"
                         " VALUES (?,?,?,?,?,?,?,?,?)",
        [PUT_PIECE] = "INSERT INTO pieces VALUES (?,?,?)",
        [FIND_SNAPSHOT] = "SELECT bytes FROM snapshots WHERE path = ? AND size = ? AND modified = ? AND number = ?"
                          " AND limits = ? AND head = ? AND checksum = ?",
        [FIND_POSITION] =
                "SELECT size, number, head, checksum FROM snapshots WHERE path = ? AND limits = ? AND head > 0",
        [USE_SNAPSHOT] = "UPDATE snapshots SET used = ? WHERE path = ?",
        [GET_PIECES] = "SELECT data FROM pieces WHERE path = ? AND number >= ? ORDER BY number",
        [SUM_SNAPSHOTS] = "SELECT coalesce(sum(bytes), 0) FROM snapshots",
        [OLDEST_SNAPSHOT] = "SELECT path FROM snapshots ORDER BY used LIMIT 1",
};

static const char history_schema[] =
        "CREATE TABLE logs (path TEXT PRIMARY KEY, dir TEXT, name TEXT, rolling INT, complete INT, size INT,"
        " modified INT, number INT, updated INT, app_id TEXT, app_name TEXT, user TEXT, attempt TEXT, version TEXT,"
        " view_acls TEXT, view_groups TEXT, admin_acls TEXT, admin_groups TEXT, start INT, end INT, ended INT,"
        " exit INT) WITHOUT ROWID;"
        "CREATE TABLE snapshots (path TEXT PRIMARY KEY, size INT, modified INT, number INT, limits TEXT, head INT,"
        " checksum INT, bytes INT, used INT);"
        "CREATE TABLE pieces (path TEXT, number INT, data BLOB, PRIMARY KEY (path, number));"
        "PRAGMA user_version = 2;";
_Static_assert(STORE_VERSION == 2, "history_schema names the version, too");

struct history_store {
        const struct sqlite_library *sqlite;
        pthread_mutex_t lock;    /* of all statements but those of the next one */
        pthread_mutex_t reading; /* of FIND_…, USE_SNAPSHOT and GET_PIECES */
        sqlite3 *db;
        sqlite3_stmt *statements[STATEMENTS];
        char *limits;
        int64_t max_bytes;
        int64_t n_pieces; /* of the status core that is written now */
        bool has_failed;  /* reported once */
};

/* ------------------------------------------------------------------------------------------------- statements */

static void history_store_report(struct history_store *s)
{
        if (!s->has_failed)
                log_warn(LOG, "the store of the history server failed: %s", s->sqlite->errmsg(s->db));
        s->has_failed = true;
}

static bool history_store_exec(struct history_store *s, const char *text)
{
        if (s->sqlite->exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK)
                return true;
        history_store_report(s);
        return false;
}

static sqlite3_stmt *history_store_begin_statement(struct history_store *s, enum history_statement which)
{
        s->sqlite->reset(s->statements[which]);
        return s->statements[which];
}

static void history_store_bind(struct history_store *s, sqlite3_stmt *statement, int at, const char *text)
{
        if (text)
                s->sqlite->bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
        else
                s->sqlite->bind_null(statement, at);
}

/* Runs a statement that returns no rows. */
static bool history_store_run(struct history_store *s, enum history_statement which)
{
        bool good = s->sqlite->step(s->statements[which]) == SQLITE_DONE;
        if (!good)
                history_store_report(s);
        s->sqlite->reset(s->statements[which]);
        return good;
}

static bool history_store_run_for(struct history_store *s, enum history_statement which, const char *path)
{
        history_store_bind(s, history_store_begin_statement(s, which), 1, path);
        return history_store_run(s, which);
}

static bool history_store_drop_snapshot(struct history_store *s, const char *path)
{
        return history_store_run_for(s, FORGET_PIECES, path) && history_store_run_for(s, FORGET_SNAPSHOT, path);
}

/* ------------------------------------------------------------------------------------------------- opening */

static int64_t history_store_number(struct history_store *s, const char *text)
{
        sqlite3_stmt *statement = NULL;
        int64_t number = -1;
        if (s->sqlite->prepare_v2(s->db, text, -1, &statement, NULL) == SQLITE_OK &&
            s->sqlite->step(statement) == SQLITE_ROW)
                number = s->sqlite->column_int64(statement, 0);
        s->sqlite->finalize(statement);
        return number;
}

static void history_store_close_db(struct history_store *s)
{
        for (size_t i = 0; i < STATEMENTS; i++) {
                s->sqlite->finalize(s->statements[i]);
                s->statements[i] = NULL;
        }
        s->sqlite->close(s->db);
        s->db = NULL;
}

/* Opens the database and makes its tables if it is empty. Returns SQLite's code. */
static int history_store_open_db(struct history_store *s, const char *path)
{
        int r = s->sqlite->open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX,
                                   NULL);
        if (r == SQLITE_OK)
                r = s->sqlite->exec(
                        s->db,
                        "PRAGMA page_size = 32768; PRAGMA busy_timeout = 2000; PRAGMA locking_mode = EXCLUSIVE;"
                        "PRAGMA journal_mode = WAL;"
                        "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096;"
                        "BEGIN EXCLUSIVE; COMMIT;",
                        NULL, NULL, NULL);
        if (r != SQLITE_OK)
                return r;
        int64_t version = history_store_number(s, "PRAGMA user_version");
        if (version == 0)
                r = s->sqlite->exec(s->db, history_schema, NULL, NULL, NULL);
        else if (version != STORE_VERSION)
                r = SQLITE_NOTADB;
        for (size_t i = 0; r == SQLITE_OK && i < STATEMENTS; i++)
                r = s->sqlite->prepare_v2(s->db, history_statements[i], -1, &s->statements[i], NULL);
        return r;
}

int history_store_open(const char *dir, int64_t max_bytes, const char *limits, struct history_store **out,
                       struct fst_error *error)
{
        static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
        const struct sqlite_library *sqlite;
        int r = make_dirs(dir, 0700);
        if (r < 0)
                return error_set(error, r, "spark.history.store.path: %s: %s", dir, strerror(-r));
        r = sqlite_library_load(&sqlite, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *path = mem_printf("%s/history.sqlite", dir);
        struct history_store *s = new0(struct history_store);
        s->sqlite = sqlite;
        s->max_bytes = max_bytes;
        s->limits = mem_strdup(limits);
        pthread_mutex_init(&s->lock, NULL);
        pthread_mutex_init(&s->reading, NULL);
        int code = history_store_open_db(s, path);
        if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR) {
                log_warn(LOG, "%s is damaged or of another version: it is replaced, and logs are read again", path);
                history_store_close_db(s);
                for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
                        _cleanup_free_ char *file = mem_printf("%s%s", path, suffixes[i]);
                        unlink(file);
                }
                code = history_store_open_db(s, path);
        }
        if (code != SQLITE_OK) {
                r = code == SQLITE_BUSY ? error_set(error, -EBUSY,
                                                    "%s is used by another history server: set another "
                                                    "spark.history.store.path",
                                                    path)
                                        : error_set(error, -EIO, "%s: %s", path,
                                                    s->db ? sqlite->errmsg(s->db) : "cannot be opened");
                history_store_close(s);
                return r;
        }
        *out = s;
        return 0;
}

void history_store_close(struct history_store *s)
{
        if (!s)
                return;
        history_store_close_db(s);
        pthread_mutex_destroy(&s->lock);
        pthread_mutex_destroy(&s->reading);
        free(s->limits);
        free(s);
}

/* ------------------------------------------------------------------------------------------------- logs */

static long history_log_number(const struct event_log_info *files)
{
        return files->files.data[files->files.len - 1].number;
}

void history_store_put_log(struct history_store *s, const char *dir, const struct event_log_info *files,
                           const struct history_info *info, int64_t updated_ms)
{
        const char *const texts[] = {info->app_id,      info->app_name,      info->user,
                                     info->attempt_id,  info->spark_version, info->view_acls,
                                     info->view_groups, info->admin_acls,    info->admin_groups};
        const int64_t before[] = {files->is_rolling,  files->is_complete,        (int64_t)files->size,
                                  files->modified_ms, history_log_number(files), updated_ms};
        const int64_t after[] = {info->start_ms, info->end_ms, info->has_ended, info->exit_code};
        pthread_mutex_lock(&s->lock);
        sqlite3_stmt *statement = history_store_begin_statement(s, PUT_LOG);
        int at = 1;
        history_store_bind(s, statement, at++, files->path);
        history_store_bind(s, statement, at++, dir);
        history_store_bind(s, statement, at++, files->name);
        for (size_t i = 0; i < ARRAY_SIZE(before); i++)
                s->sqlite->bind_int64(statement, at++, before[i]);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                history_store_bind(s, statement, at++, texts[i]);
        for (size_t i = 0; i < ARRAY_SIZE(after); i++)
                s->sqlite->bind_int64(statement, at++, after[i]);
        history_store_run(s, PUT_LOG);
        pthread_mutex_unlock(&s->lock);
}

void history_store_forget(struct history_store *s, const char *path)
{
        pthread_mutex_lock(&s->lock);
        if (history_store_exec(s, "BEGIN")) {
                bool good = history_store_run_for(s, FORGET_LOG, path) && history_store_drop_snapshot(s, path);
                history_store_exec(s, good ? "COMMIT" : "ROLLBACK");
        }
        pthread_mutex_unlock(&s->lock);
}

void history_store_forget_snapshot(struct history_store *s, const char *path)
{
        pthread_mutex_lock(&s->lock);
        if (history_store_exec(s, "BEGIN")) {
                bool good = history_store_drop_snapshot(s, path);
                history_store_exec(s, good ? "COMMIT" : "ROLLBACK");
        }
        pthread_mutex_unlock(&s->lock);
}

static char *history_store_text(struct history_store *s, sqlite3_stmt *row, int at)
{
        return mem_strdup_if((const char *)s->sqlite->column_text(row, at));
}

static void history_store_read_row(struct history_store *s, sqlite3_stmt *row, struct event_log_info *files,
                                   struct history_info *info)
{
        const struct sqlite_library *q = s->sqlite;
        *files = (struct event_log_info){.path = history_store_text(s, row, 0),
                                         .name = history_store_text(s, row, 2),
                                         .is_rolling = q->column_int64(row, 3),
                                         .is_complete = q->column_int64(row, 4),
                                         .size = (uint64_t)q->column_int64(row, 5),
                                         .modified_ms = q->column_int64(row, 6)};
        vec_push(&files->files, (struct event_log_file){.path = history_store_text(s, row, 0),
                                                        .number = (long)q->column_int64(row, 7)});
        *info = (struct history_info){.app_id = history_store_text(s, row, 9),
                                      .app_name = history_store_text(s, row, 10),
                                      .user = history_store_text(s, row, 11),
                                      .attempt_id = history_store_text(s, row, 12),
                                      .spark_version = history_store_text(s, row, 13),
                                      .view_acls = history_store_text(s, row, 14),
                                      .view_groups = history_store_text(s, row, 15),
                                      .admin_acls = history_store_text(s, row, 16),
                                      .admin_groups = history_store_text(s, row, 17),
                                      .start_ms = q->column_int64(row, 18),
                                      .end_ms = q->column_int64(row, 19),
                                      .has_ended = q->column_int64(row, 20),
                                      .exit_code = (int)q->column_int64(row, 21)};
}

void history_store_each(struct history_store *s,
                        void (*log)(void *owner, const char *dir, struct event_log_info *files,
                                    struct history_info *info, int64_t updated_ms),
                        void *owner)
{
        sqlite3_stmt *rows = NULL;
        pthread_mutex_lock(&s->lock);
        if (s->sqlite->prepare_v2(s->db, "SELECT * FROM logs", -1, &rows, NULL) != SQLITE_OK)
                history_store_report(s);
        while (rows && s->sqlite->step(rows) == SQLITE_ROW) {
                struct event_log_info files;
                struct history_info info;
                _cleanup_free_ char *dir = history_store_text(s, rows, 1);
                history_store_read_row(s, rows, &files, &info);
                log(owner, dir, &files, &info, s->sqlite->column_int64(rows, 8));
        }
        s->sqlite->finalize(rows);
        pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------------------------------------------- status cores */

/* Removes the status cores that were not used for longest until @more bytes have room. */
static bool history_store_make_room(struct history_store *s, int64_t more)
{
        for (;;) {
                sqlite3_stmt *sum = history_store_begin_statement(s, SUM_SNAPSHOTS);
                int64_t bytes = s->sqlite->step(sum) == SQLITE_ROW ? s->sqlite->column_int64(sum, 0) : 0;
                s->sqlite->reset(sum);
                if (bytes + more <= s->max_bytes)
                        return true;
                sqlite3_stmt *oldest = history_store_begin_statement(s, OLDEST_SNAPSHOT);
                _cleanup_free_ char *path =
                        s->sqlite->step(oldest) == SQLITE_ROW ? history_store_text(s, oldest, 0) : NULL;
                s->sqlite->reset(oldest);
                if (!path || !history_store_drop_snapshot(s, path))
                        return false;
        }
}

/* Binds the state of a log that a status core belongs to, from parameter 1 on. Returns the next parameter. */
static int history_store_bind_log(struct history_store *s, sqlite3_stmt *statement, const struct event_log_info *files,
                                  const struct event_log_position *position)
{
        history_store_bind(s, statement, 1, files->path);
        s->sqlite->bind_int64(statement, 2, (int64_t)(position ? position->text : files->size));
        s->sqlite->bind_int64(statement, 3, position ? 0 : files->modified_ms);
        s->sqlite->bind_int64(statement, 4, position ? position->number : history_log_number(files));
        history_store_bind(s, statement, 5, s->limits);
        s->sqlite->bind_int64(statement, 6, position ? (int64_t)position->head : 0);
        s->sqlite->bind_int64(statement, 7, position ? (int64_t)position->checksum : 0);
        return 8;
}

bool history_store_begin_snapshot(struct history_store *s, const struct event_log_info *files,
                                  const struct event_log_position *position, uint64_t bytes)
{
        if (bytes > (uint64_t)s->max_bytes)
                return false;
        pthread_mutex_lock(&s->lock);
        if (!history_store_exec(s, "BEGIN")) {
                pthread_mutex_unlock(&s->lock);
                return false;
        }
        s->n_pieces = 0;
        bool good = history_store_drop_snapshot(s, files->path) && history_store_make_room(s, (int64_t)bytes);
        sqlite3_stmt *statement = history_store_begin_statement(s, PUT_SNAPSHOT);
        int at = history_store_bind_log(s, statement, files, position);
        s->sqlite->bind_int64(statement, at++, (int64_t)bytes);
        s->sqlite->bind_int64(statement, at, time_of_day_ms());
        good = good && history_store_run(s, PUT_SNAPSHOT);
        history_store_bind(s, history_store_begin_statement(s, PUT_PIECE), 1, files->path); /* for all pieces */
        if (!good)
                history_store_end_snapshot(s, false);
        return good;
}

bool history_store_put_piece(void *store, const void *piece, size_t size)
{
        struct history_store *s = store;
        sqlite3_stmt *statement = history_store_begin_statement(s, PUT_PIECE);
        s->sqlite->bind_int64(statement, 2, s->n_pieces++);
        s->sqlite->bind_blob(statement, 3, piece, (int)size, SQLITE_STATIC);
        bool good = history_store_run(s, PUT_PIECE);
        s->sqlite->bind_null(statement, 3);
        return good;
}

void history_store_end_snapshot(struct history_store *s, bool is_whole)
{
        history_store_exec(s, is_whole ? "COMMIT" : "ROLLBACK");
        pthread_mutex_unlock(&s->lock);
}

bool history_store_find_position(struct history_store *s, const struct event_log_info *files,
                                 struct event_log_position *out)
{
        pthread_mutex_lock(&s->reading);
        sqlite3_stmt *statement = history_store_begin_statement(s, FIND_POSITION);
        history_store_bind(s, statement, 1, files->path);
        history_store_bind(s, statement, 2, s->limits);
        bool found = s->sqlite->step(statement) == SQLITE_ROW;
        if (found)
                *out = (struct event_log_position){.text = (uint64_t)s->sqlite->column_int64(statement, 0),
                                                   .number = (long)s->sqlite->column_int64(statement, 1),
                                                   .head = (uint64_t)s->sqlite->column_int64(statement, 2),
                                                   .checksum = (uint64_t)s->sqlite->column_int64(statement, 3)};
        s->sqlite->reset(statement);
        pthread_mutex_unlock(&s->reading);
        return found;
}

bool history_store_open_snapshot(struct history_store *s, const struct event_log_info *files,
                                 const struct event_log_position *position, uint64_t piece)
{
        pthread_mutex_lock(&s->reading);
        sqlite3_stmt *statement = history_store_begin_statement(s, FIND_SNAPSHOT);
        history_store_bind_log(s, statement, files, position);
        bool found = s->sqlite->step(statement) == SQLITE_ROW;
        s->sqlite->reset(statement);
        if (!found) {
                pthread_mutex_unlock(&s->reading);
                return false;
        }
        statement = history_store_begin_statement(s, USE_SNAPSHOT);
        s->sqlite->bind_int64(statement, 1, time_of_day_ms());
        history_store_bind(s, statement, 2, files->path);
        history_store_run(s, USE_SNAPSHOT);
        statement = history_store_begin_statement(s, GET_PIECES);
        history_store_bind(s, statement, 1, files->path);
        s->sqlite->bind_int64(statement, 2, (int64_t)piece);
        return true;
}

const void *history_store_get_piece(void *store, size_t *size)
{
        struct history_store *s = store;
        sqlite3_stmt *pieces = s->statements[GET_PIECES];
        if (s->sqlite->step(pieces) != SQLITE_ROW)
                return NULL;
        const void *piece = s->sqlite->column_blob(pieces, 0);
        *size = (size_t)s->sqlite->column_bytes(pieces, 0);
        return piece;
}

void history_store_leave_snapshot(struct history_store *s)
{
        s->sqlite->reset(s->statements[GET_PIECES]);
        pthread_mutex_unlock(&s->reading);
}
