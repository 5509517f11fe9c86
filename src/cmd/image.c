/* firesteel image build and push: a container image of this program; see image/image.h and image_push.h. */
#include "base/error.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "base/string_list.h"
#include "cmd/command.h"
#include "image/image.h"
#include "image/image_push.h"
#include "exec/app/app_compiler.h"

#include <stdio.h>
#include <stdlib.h>

const char command_image_help[] =
        "Usage: firesteel image build [OPTIONS]\n"
        "       firesteel image push [--tag NAME[:TAG]] [--plain-http] FILE\n"
        "\n"
        "build writes a container image of this Firesteel with all that it needs, without a daemon and without root. The\n"
        "same files make the same image. Load it with docker load -i, podman load -i or ctr images import, or push it.\n"
        "\n"
        "  -t, --tag NAME[:TAG]   name of the image (default: firesteel:" FIRESTEEL_VERSION ")\n"
        "  -o, --output FILE      the archive (default: NAME-TAG.tar)\n"
        "  -a, --add FROM[:TO]    a file or folder to add at the absolute path TO (default: below " IMAGE_APP_FOLDER
        ");\n"
        "                         a C file is compiled first, as spark-submit does. May be given several times\n"
        "  -p, --python[=PYTHON]  add this Python interpreter (default: $PYSPARK_PYTHON, or python3) with its packages, among\n"
        "                         them pyspark without Spark's jars, for Python applications\n"
        "  --r[=RSCRIPT]          add the R of this machine (default: Rscript in PATH) with its packages, among them SparkR,\n"
        "                         for applications in R\n"
        "  -u, --user UID         user id in the container (default: 185)\n"
        "  -r, --root FOLDER      write the image's files to a new folder instead of an archive, for a Dockerfile\n"
        "\n"
        "push sends an archive to the registry in its name, or in the name of --tag, with the credentials that docker\n"
        "login or podman login stored. --plain-http sends it without TLS. A registry on this machine never uses TLS.\n";

struct words {
        const char *output;
        struct image_options options;
        VEC(struct image_added) added;
        struct string_list owned; /* generated paths */
};

static const char *image_command_own(struct words *w, char *text)
{
        string_list_take(&w->owned, text);
        return text;
}

/* Parses "FROM" or "FROM:TO". Compiles a C file and adds the result. */
static int image_command_add(struct words *w, const char *word, struct fst_error *error)
{
        const char *colon = strstr(word, ":/");
        const char *from = image_command_own(w, colon ? mem_strndup(word, (size_t)(colon - word)) : mem_strdup(word));
        const char *to = colon ? colon + 1 : NULL;
        size_t n = strlen(from);
        while (n > 1 && from[n - 1] == '/')
                n--;
        from = image_command_own(w, mem_strndup(from, n));
        const char *slash = strrchr(from, '/'), *name = slash ? slash + 1 : from;
        if (text_ends_with(from, ".c")) {
                char *compiled;
                if (!to)
                        to = image_command_own(w, mem_printf(IMAGE_APP_FOLDER "/%.*s.so", (int)strlen(name) - 2, name));
                int r = app_compiler_run(&(struct app_compiler){.source = from}, &compiled, error);
                if (r < 0)
                        return r;
                from = image_command_own(w, compiled);
        }
        if (!to)
                to = image_command_own(w, mem_printf(IMAGE_APP_FOLDER "/%s", name));
        vec_push(&w->added, (struct image_added){.from = from, .to = to});
        return 0;
}

static int image_command_parse_user(const char *text, int *user)
{
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || *end || number < 0 || number > 0x7ffffffe)
                return command_usage(command_image_help, "--user needs a user id, not", text);
        *user = (int)number;
        return 0;
}

/* Parses "--NAME" or the short form, which mean @usual, and "--NAME=PROGRAM". */
static bool image_command_is_interpreter(const char *word, const char *name, const char *brief, const char *usual,
                                         const char **interpreter)
{
        size_t n = strlen(name);
        if (strcmp(word, name) == 0 || (brief && strcmp(word, brief) == 0))
                *interpreter = usual;
        else if (strncmp(word, name, n) == 0 && word[n] == '=')
                *interpreter = word + n + 1;
        else
                return false;
        return true;
}

static int image_command_parse(struct words *w, int argc, char **argv, struct fst_error *error)
{
        static const char *const names[][2] = {
                {"--tag", "-t"}, {"--output", "-o"}, {"--add", "-a"}, {"--user", "-u"}, {"--root", "-r"}};
        const char *python = getenv("PYSPARK_PYTHON");
        for (int i = 2; i < argc; i++) {
                size_t k = 0, n = 0;
                if (image_command_is_interpreter(argv[i], "--python", "-p", python && *python ? python : "python3",
                                                 &w->options.python) ||
                    image_command_is_interpreter(argv[i], "--r", NULL, "Rscript", &w->options.r))
                        continue;
                for (; k < ARRAY_SIZE(names); k++) {
                        n = strlen(names[k][0]);
                        if (strcmp(argv[i], names[k][1]) == 0 ||
                            (strncmp(argv[i], names[k][0], n) == 0 && (argv[i][n] == '=' || argv[i][n] == '\0')))
                                break;
                }
                if (k == ARRAY_SIZE(names))
                        return command_usage(command_image_help, "unknown option", argv[i]);
                bool inside = argv[i][1] == '-' && argv[i][n] == '=';
                if (!inside && i + 1 == argc)
                        return command_usage(command_image_help, "a value is missing after", argv[i]);
                const char *value = inside ? argv[i] + n + 1 : argv[++i];
                int r = 0;
                if (k == 0)
                        w->options.name = value;
                else if (k == 1)
                        w->options.output = value;
                else if (k == 4)
                        w->options.root = value;
                else
                        r = k == 2 ? image_command_add(w, value, error)
                                   : image_command_parse_user(value, &w->options.user);
                if (r)
                        return r;
        }
        return 0;
}

/* The default file name: "registry/team/firesteel:1" is written to firesteel-1.tar. */
static const char *image_command_default_output(struct words *w)
{
        const char *slash = strrchr(w->options.name, '/'), *last = slash ? slash + 1 : w->options.name;
        const char *colon = strchr(last, ':');
        return image_command_own(w, mem_printf("%.*s-%s.tar", colon ? (int)(colon - last) : (int)strlen(last), last,
                                               colon ? colon + 1 : "latest"));
}

static int image_command_push(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        struct image_push what = {0};
        struct image_pushed done;
        for (int i = 2; i < argc; i++) {
                if (strcmp(argv[i], "--plain-http") == 0)
                        what.plain_http = true;
                else if (text_starts_with(argv[i], "--tag="))
                        what.name = argv[i] + strlen("--tag=");
                else if (strcmp(argv[i], "--tag") == 0 || strcmp(argv[i], "-t") == 0) {
                        if (++i == argc)
                                return command_usage(command_image_help, "a value is missing after", argv[i - 1]);
                        what.name = argv[i];
                } else if (argv[i][0] == '-')
                        return command_usage(command_image_help, "unknown option", argv[i]);
                else if (what.archive)
                        return command_usage(command_image_help, "only one archive can be pushed at a time, not also",
                                             argv[i]);
                else
                        what.archive = argv[i];
        }
        if (!what.archive)
                return command_usage(command_image_help, "the archive to push is missing", NULL);
        int r = image_push(&what, &done, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        else
                printf("%s: sent %.1f MB, the registry already had %d of %d layers and configurations\n%s\n", done.name,
                       (double)done.bytes / 1e6, done.layers + 1 - done.sent, done.layers + 1, done.digest);
        if (r == 0)
                image_pushed_deinit(&done);
        error_deinit(&error);
        return r < 0 || fflush(stdout) != 0;
}

static void image_command_report(const struct image_options *o, const struct image_report *report)
{
        if (o->root)
                printf("%s: %.1f MB in %zu files, %zu of them libraries\n", o->root, (double)report->uncompressed / 1e6,
                       report->files, report->libraries);
        else
                printf("%s (%s): %.1f MB compressed, %.1f MB in %zu files, %zu of them libraries\n%s\n", o->output,
                       o->name, (double)report->compressed / 1e6, (double)report->uncompressed / 1e6, report->files,
                       report->libraries, report->digest);
}

int command_image(int argc, char **argv)
{
        struct words w = {.options = {.name = "firesteel:" FIRESTEEL_VERSION, .user = IMAGE_USER}};
        struct fst_error error = FST_ERROR_INIT;
        struct image_report report;
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_image_help, stdout) < 0 || fflush(stdout) != 0;
        if (argc < 2)
                return command_usage(command_image_help,
                                     "an operation is missing: firesteel image build or firesteel image push", NULL);
        if (strcmp(argv[1], "push") == 0)
                return image_command_push(argc, argv);
        if (strcmp(argv[1], "build") != 0)
                return command_usage(command_image_help, "use 'firesteel image build' or 'firesteel image push', not",
                                     argv[1]);
        exit_cleanup_on_signals();
        int r = image_command_parse(&w, argc, argv, &error);
        if (r == 0) {
                if (!w.options.output)
                        w.options.output = image_command_default_output(&w);
                w.options.added = w.added.data;
                w.options.n_added = w.added.len;
                r = image_build(&w.options, &report, &error);
        }
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        else if (r == 0)
                image_command_report(&w.options, &report);
        error_deinit(&error);
        vec_deinit(&w.added);
        string_list_deinit(&w.owned);
        return r < 0 || fflush(stdout) != 0 ? 1 : r;
}
