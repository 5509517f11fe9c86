/* Reads daemon configuration; see daemon_conf.h. Keys that do not start with spark. are ignored, as in Spark. */
#include "standalone/wire/daemon_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "conf/properties.h"
#include "launch/environment.h"
#include "text/shell_words.h"
#include "net/socket.h"

#include <unistd.h>

static const struct daemon_option *option_of(const struct daemon_option *options, size_t n, const char *word)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(options[i].name, word) == 0 || (options[i].other && strcmp(options[i].other, word) == 0))
                        return &options[i];
        return NULL;
}

int daemon_words_read(const struct daemon_option *options, size_t n, int argc, char *const *argv, const char **operand,
                      const char *what, const char *form, struct fst_error *error)
{
        for (int i = 1; i < argc; i++) {
                const struct daemon_option *o = option_of(options, n, argv[i]);
                if (strcmp(argv[i], "--help") == 0)
                        return DAEMON_WORDS_E_HELP;
                if (o && i + 1 == argc)
                        return error_set(error, DAEMON_WORDS_E_USAGE, "%s needs a value", argv[i]);
                if (o)
                        *o->value = argv[++i];
                else if (!operand || argv[i][0] == '-')
                        return error_set(error, DAEMON_WORDS_E_USAGE, "Unrecognized option: %s", argv[i]);
                else if (*operand)
                        return error_set(error, DAEMON_WORDS_E_USAGE, "more than one %s, %s and %s: write %s", what,
                                         *operand, argv[i], form);
                else
                        *operand = argv[i];
        }
        return 0;
}

int daemon_environment(struct fst_error *error)
{
        _cleanup_free_ char *folder = submit_conf_dir();
        return folder ? submit_load_spark_env(folder, error) : 0;
}

static int daemon_conf_read_options(struct fst_conf *conf, const char *variable, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words words = {0};
        int r = option_string_split(getenv(variable), &words, error);
        if (r)
                return error_wrap(error, r, "%s", variable);
        for (size_t i = 0; i < words.len; i++) {
                const char *option = words.data[i], *equals = strchr(option, '=');
                if (strncmp(option, "-Dspark.", 8) != 0 || !equals)
                        continue;
                _cleanup_free_ char *key = mem_strndup(option + 2, (size_t)(equals - option - 2));
                conf_set(conf, key, equals + 1);
        }
        return 0;
}

static int daemon_conf_read_file(struct fst_conf *conf, const char *path, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap file = STRMAP_INIT;
        int r = properties_load(&file, path, error);
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&file, e));)
                if (strncmp(e->key, "spark.", 6) == 0)
                        conf_set_if_missing(conf, e->key, e->value);
        return r;
}

int daemon_conf_load(struct fst_conf *conf, const char *options_variable, const char *properties_file,
                     struct fst_error *error)
{
        _cleanup_(conf_deinit) struct fst_conf given = {.set = STRMAP_INIT};
        _cleanup_free_ char *folder = submit_conf_dir();
        _cleanup_free_ char *defaults = folder ? mem_printf("%s/spark-defaults.conf", folder) : NULL;
        int r = daemon_conf_read_options(&given, "SPARK_DAEMON_JAVA_OPTS", error);
        if (r == 0)
                r = daemon_conf_read_options(&given, options_variable, error);
        if (r)
                return r;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&given.set, e));)
                conf_set_if_missing(conf, e->key, e->value);
        if (properties_file)
                r = daemon_conf_read_file(conf, properties_file, error);
        else if (defaults && access(defaults, F_OK) == 0)
                r = daemon_conf_read_file(conf, defaults, error);
        if (r == 0)
                r = log4j2_configure(conf, folder, error);
        if (r == 0)
                conf_warn_misspelled(&conf->set);
        return r;
}

const char *daemon_variable(const char *name)
{
        const char *value = getenv(name);
        return value && *value ? value : NULL;
}

int daemon_host(const char *host, char **out, char **public_host, struct fst_error *error)
{
        const char *colon = host ? strchr(host, ':') : NULL, *shown = daemon_variable("SPARK_PUBLIC_DNS");
        if (host && (!*host || (colon && !strchr(colon + 1, ':'))))
                return error_set(error, -EINVAL, "Expected hostname or IP but got %s", host);
        char *name = host ? mem_strdup(host) : socket_local_host();
        size_t n = strlen(name);
        if (n > 2 && name[0] == '[' && name[n - 1] == ']') {
                memmove(name, name + 1, n - 2);
                name[n - 2] = '\0';
        }
        *out = name;
        *public_host = mem_strdup(shown ? shown : name);
        return 0;
}
