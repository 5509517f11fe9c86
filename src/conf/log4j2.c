/*
 * Levels from log4j's configuration; see log4j2.h.
 *
 * Reads the properties in two passes: the first checks every level, the second applies them. Loggers of other programs
 * (the templates quiet Jetty, Hive and Parquet) are left out, because they have no lines here and each log line is
 * compared with the list.
 */
#include "conf/log4j2.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/properties.h"

#include <ctype.h>
#include <fnmatch.h>
#include <strings.h>
#include <unistd.h>

struct log4j2_file {
        const char *name;
        struct strmap set;
        const char *ignored; /* the first key that has no effect */
        size_t n_ignored;
};

/* The content of every template, which this log implements. A NULL value matches any. */
static const struct {
        const char key[40];
        const char value[56];
} usual[] = {
        {"status", "*"},
        {"name", "*"},
        {"loggers", "*"},
        {"appenders", "*"},
        {"rootLogger.appenderRef.*.ref", "*"},
        {"rootLogger.appenderRefs", "*"},
        {"appender.*.type", "Console"},
        {"appender.*.name", "*"},
        {"appender.*.target", "SYSTEM_ERR"},
        {"appender.*.layout.type", "PatternLayout"},
        {"appender.*.layout.pattern", "%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n*"},
        {"log4j.appender.*", "org.apache.log4j.ConsoleAppender"},
        {"log4j.appender.*.target", "System.err"},
        {"log4j.appender.*.layout", "org.apache.log4j.PatternLayout"},
        {"log4j.appender.*.ConversionPattern", "%d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n*"},
};

static void log4j2_ignore(struct log4j2_file *f, const struct strmap_entry *e)
{
        for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
                if (fnmatch(usual[i].key, e->key, 0) == 0 && fnmatch(usual[i].value, e->value, FNM_NOESCAPE) == 0)
                        return;
        if (f->n_ignored++ == 0)
                f->ignored = e->key;
}

/* Parses the level at the start of @value ("INFO", "INFO, console"). Returns 0, 1 without a level, or -EINVAL. */
static int log4j2_read_level(const struct log4j2_file *f, const struct strmap_entry *e, enum log_level *level,
                             struct fst_error *error)
{
        size_t n = strcspn(e->value, ",");
        while (n && isspace((unsigned char)e->value[n - 1]))
                n--;
        _cleanup_free_ char *name = mem_strndup(e->value, n);
        if (n == 0 || strcasecmp(name, "INHERITED") == 0 || strcasecmp(name, "NULL") == 0)
                return 1;
        int r = log_level_parse(name, level, error);
        return r < 0 ? error_wrap(error, r, "%s: %s", f->name, e->key) : 0;
}

/* Returns the logger whose level the key sets, which the caller owns: "" is the root, NULL none. */
static char *log4j2_logger_of_key(const struct log4j2_file *f, const char *key)
{
        static const char *const roots[] = {"rootLogger", "rootLogger.level", "log4j.rootCategory", "log4j.rootLogger"};
        static const char *const old[] = {"log4j.logger.", "log4j.category."};
        for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
                if (strcmp(key, roots[i]) == 0)
                        return mem_strdup("");
        for (size_t i = 0; i < ARRAY_SIZE(old); i++)
                if (strncmp(key, old[i], strlen(old[i])) == 0)
                        return mem_strdup(key + strlen(old[i]));
        if (strncmp(key, "logger.", 7) != 0)
                return NULL;
        const char *dot = strchr(key + 7, '.');
        if (dot && strcmp(dot, ".level") != 0)
                return NULL;
        _cleanup_free_ char *id = mem_strndup(key, dot ? (size_t)(dot - key) : strlen(key));
        _cleanup_free_ char *name_key = mem_printf("%s.name", id);
        const char *name = strmap_get(&f->set, name_key);
        return name ? mem_strdup(name) : NULL;
}

/* Whether the key only names a logger. */
static bool log4j2_names_logger(const char *key)
{
        const char *dot = strncmp(key, "logger.", 7) == 0 ? strchr(key + 7, '.') : NULL;
        return dot && strcmp(dot, ".name") == 0;
}

/* Whether this program logs lines of @logger. */
static bool log4j2_is_ours(const char *logger)
{
        static const char spark[] = "org.apache.spark";
        size_t n = MIN(strlen(logger), sizeof(spark) - 1);
        if (strncmp(logger, "org.apache.spark.repl", 21) == 0)
                return false;
        return !strchr(logger, '.') || strncmp(logger, spark, n) == 0;
}

static int log4j2_walk(struct log4j2_file *f, bool apply, struct fst_error *error)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&f->set, e));) {
                enum log_level level = LOG_INFO;
                _cleanup_free_ char *logger = log4j2_logger_of_key(f, e->key);
                if (!logger) {
                        if (apply && !log4j2_names_logger(e->key))
                                log4j2_ignore(f, e);
                        continue;
                }
                int r = log4j2_read_level(f, e, &level, error);
                if (r < 0)
                        return r;
                if (r > 0 || !apply)
                        continue;
                if (!*logger)
                        log_set_level(level);
                else if (log4j2_is_ours(logger) && log_set_logger_level(logger, level) < 0)
                        log4j2_ignore(f, e);
        }
        return 0;
}

static int log4j2_apply_file(struct log4j2_file *f, struct fst_error *error)
{
        int r = log4j2_walk(f, false, error);
        if (r < 0)
                return r;
        log4j2_walk(f, true, NULL);
        if (f->n_ignored == 1)
                log_warn("Log4j2", "%s: only levels are taken from this file; %s has no effect", f->name, f->ignored);
        else if (f->n_ignored > 1)
                log_warn("Log4j2", "%s: only levels are taken from this file; %s and %zu other keys have no effect",
                         f->name, f->ignored, f->n_ignored - 1);
        return 0;
}

int log4j2_apply(const char *name, const char *text, size_t length, struct fst_error *error)
{
        struct log4j2_file f = {.name = name};
        int r = properties_parse(&f.set, name, text, length, error);
        if (r == 0)
                r = log4j2_apply_file(&f, error);
        strmap_deinit(&f.set);
        return r;
}

int log4j2_load(const char *path, struct fst_error *error)
{
        struct log4j2_file f = {.name = path};
        int r = properties_load(&f.set, path, error);
        if (r == 0)
                r = log4j2_apply_file(&f, error);
        strmap_deinit(&f.set);
        return r;
}

static enum log_level log4j2_default = LOG_INFO;

void log4j2_set_default(enum log_level level)
{
        log4j2_default = level;
}

/* The file in @conf_dir that sets levels, or NULL. The caller frees it. */
static char *log4j2_file_in(const char *conf_dir)
{
        static const char *const files[] = {"log4j2.properties", "log4j.properties"};
        for (size_t i = 0; conf_dir && i < ARRAY_SIZE(files); i++) {
                char *path = mem_printf("%s/%s", conf_dir, files[i]);
                if (access(path, F_OK) == 0)
                        return path;
                free(path);
        }
        return NULL;
}

bool log4j2_is_configured(const struct fst_conf *conf, const char *conf_dir)
{
        _cleanup_free_ char *path = log4j2_file_in(conf_dir);
        return path || conf_get_raw(conf, "spark.log.level");
}

int log4j2_configure(const struct fst_conf *conf, const char *conf_dir, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        enum log_level level = LOG_INFO;
        bool json = false;
        int r = conf_get_bool(conf, "spark.log.structuredLogging.enabled", &json, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.log.level", &name, error);
        if (r == 0 && name && (r = log_level_parse(name, &level, error)) < 0)
                r = error_wrap(error, r, "spark.log.level");
        if (r < 0)
                return r;
        log_set_structured(json);
        log_reset_levels(log4j2_default);
        _cleanup_free_ char *path = log4j2_file_in(conf_dir);
        if (path && (r = log4j2_load(path, error)) < 0)
                return r;
        if (name)
                log_set_level(level);
        return 0;
}
