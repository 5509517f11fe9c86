/* See legacy_arguments.h. Spark requires a URL that ends with .jar. Firesteel also accepts a shared object's. */
#include "submit/standalone/legacy_arguments.h"

#include "base/error.h"
#include "base/string_prefix.h"
#include "conf/units.h"

#include <stdlib.h>

#define DEFAULT_MEMORY_MIB 1024

const char legacy_usage[] =
        "Usage: DriverClient [options] launch <active-master> <jar-url> <main-class> [driver options]\n"
        "Usage: DriverClient kill <active-master> <driver-id>\n"
        "\n"
        "Options:\n"
        "   -c CORES, --cores CORES        Processors of the driver (default: 1)\n"
        "   -m MEMORY, --memory MEMORY     Memory of the driver: 512m, 2g (default: 1g)\n"
        "   -s, --supervise                Start the driver again when it fails (default: false)\n"
        "   -v, --verbose                  Say more\n";

static bool legacy_arguments_is(const char *word, const char *name, const char *short_name)
{
        return strcmp(word, name) == 0 || strcmp(word, short_name) == 0;
}

/* Whether @url has a scheme and the path of a .jar or .so. file: URLs have no host, all others need one. */
static bool legacy_arguments_is_file_url(const char *url)
{
        const char *colon = strchr(url, ':');
        if (!colon || colon == url)
                return false;
        bool remote = !text_starts_with(url, "file:");
        bool has_authority = text_starts_with(colon, "://");
        const char *host = has_authority ? colon + 3 : "";
        if (has_authority ? !strchr(host, '/') || remote == (*host == '/') : remote)
                return false;
        return text_ends_with(url, ".jar") || text_ends_with(url, ".so");
}

static int legacy_arguments_usage(struct fst_error *error)
{
        return error_set(error, -EINVAL, "%s", "");
}

static int legacy_arguments_take_number(const char *word, const char *value, struct legacy_arguments *out,
                                        struct fst_error *error)
{
        char *end;
        if (legacy_arguments_is(word, "--cores", "-c")) {
                long cores = strtol(value, &end, 10);
                if (end == value || *end || cores < 1 || cores > INT32_MAX)
                        return error_set(error, -EINVAL, "--cores: \"%s\" is not a number of at least 1", value);
                out->cores = (int)cores;
                return 0;
        }
        int64_t bytes;
        int r = units_parse_bytes(value, UNIT_B, UNIT_B, &bytes, error);
        out->memory_mib = bytes >> 20;
        return r;
}

static int legacy_arguments_take_launch(int n, char *const *words, struct legacy_arguments *out,
                                        struct fst_error *error)
{
        if (n < 3)
                return legacy_arguments_usage(error);
        out->masters = words[0];
        out->url = words[1];
        out->main_class = words[2] ? words[2] : "";
        out->arguments = words + 3;
        out->n_arguments = (size_t)n - 3;
        if (!out->url || !legacy_arguments_is_file_url(out->url))
                return error_set(error, -EINVAL,
                                 "Jar url '%s' is not in valid format.\nMust be a jar file path in URL format (e.g. "
                                 "hdfs://host:port/XX.jar, file:///XX.jar), or a shared object's",
                                 out->url ? out->url : "");
        return 0;
}

int legacy_arguments_parse(int n, char *const *words, struct legacy_arguments *out, struct fst_error *error)
{
        *out = (struct legacy_arguments){.cores = 1, .memory_mib = DEFAULT_MEMORY_MIB};
        for (int i = 0; i < n && words[i]; i++) {
                const char *word = words[i];
                if (legacy_arguments_is(word, "--help", "-h"))
                        return 1;
                if (legacy_arguments_is(word, "--supervise", "-s")) {
                        out->supervise = true;
                } else if (legacy_arguments_is(word, "--verbose", "-v")) {
                        out->verbose = true;
                } else if ((legacy_arguments_is(word, "--cores", "-c") ||
                            legacy_arguments_is(word, "--memory", "-m")) &&
                           i + 1 < n) {
                        int r = legacy_arguments_take_number(word, words[++i], out, error);
                        if (r)
                                return r;
                } else if (strcmp(word, "launch") == 0) {
                        return legacy_arguments_take_launch(n - i - 1, words + i + 1, out, error);
                } else if (strcmp(word, "kill") == 0 && n - i > 2) {
                        out->command = LEGACY_KILL;
                        out->masters = words[i + 1];
                        out->id = words[i + 2];
                        return 0;
                } else {
                        break;
                }
        }
        return legacy_arguments_usage(error);
}
