/* firesteel operator: the Kubernetes operator and its commands, one row each. */
#include "cmd/command.h"
#include "cmd/operator_objects.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/civil_time.h"
#include "operator/schedule/cron.h"

#include <stdio.h>

const char command_operator_help[] =
        "Usage: firesteel operator COMMAND [ARGUMENTS]\n"
        "\n"
        "Commands:\n"
        "  crds                 print the custom resource definitions, for kubectl apply -f -\n"
        "  render FILE          print the objects that the applications in FILE would get, without a cluster\n"
        "  schedule EXPRESSION  print when a schedule's next runs start, in UTC\n"
        "\n"
        "Options of crds and render:\n"
        "  --output FORM     yaml (default) or json\n"
        "\n"
        "Options of render, with the operator's names:\n"
        "  --namespace NS, --master URL, --submission-id UUID, --enable-ui-service=false, --enable-driver-pdb,\n"
        "  --ingress-url-format TEXT, --ingress-class-name NAME, --enable-batch-scheduler,\n"
        "  --default-batch-scheduler NAME, --kube-scheduler-names NAMES\n"
        "\n"
        "Options of schedule:\n"
        "  --time-zone ZONE  the zone of the schedule (spec.timeZone): an IANA name; the default is that of this machine\n"
        "  --count N         the number of runs (default: 5)\n"
        "\n"
        "  --help            print this\n";

static int operator_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s%s%s\n\n%s", problem, word ? " " : "", word ? word : "", command_operator_help);
        return 2;
}

static int operator_fail(struct fst_error *error)
{
        fprintf(stderr, "Error: %s\n", error_message(error));
        error_deinit(error);
        return 1;
}

/* ------------------------------------------------------------------------------------------------------ schedule */

static void operator_print_time(int64_t ms)
{
        int64_t days = ms / 86400000, seconds = ms / 1000 % 86400, year;
        int month, day;
        civil_of_days(days, &year, &month, &day);
        printf("%04d-%02d-%02dT%02d:%02d:%02dZ\n", (int)year, month, day, (int)(seconds / 3600),
               (int)(seconds / 60 % 60), (int)(seconds % 60));
}

static int operator_schedule(int argc, char **argv)
{
        const char *expression = NULL, *zone = "Local", *count = "5";
        for (int i = 1; i < argc; i++) {
                bool is_zone = strcmp(argv[i], "--time-zone") == 0;
                if (is_zone || strcmp(argv[i], "--count") == 0) {
                        if (i + 1 == argc)
                                return operator_usage("a value is missing for", argv[i]);
                        *(is_zone ? &zone : &count) = argv[i + 1];
                        i++;
                } else if (text_starts_with(argv[i], "--")) {
                        return operator_usage("unknown option", argv[i]);
                } else if (expression) {
                        return operator_usage("more than one expression (put quotation marks around it):", argv[i]);
                } else {
                        expression = argv[i];
                }
        }
        char *end;
        long n = strtol(count, &end, 10);
        if (*end || n < 1 || n > 100000)
                return operator_usage("--count needs a number from 1 to 100000, not", count);
        if (!expression)
                return operator_usage("the expression is missing, such as '0 3 * * MON-FRI'", NULL);
        struct fst_error error = FST_ERROR_INIT;
        struct cron *cron = NULL;
        if (cron_parse(expression, zone, &cron, &error) < 0)
                return operator_fail(&error);
        int64_t at = cron_next(cron, time_of_day_ms());
        if (at == CRON_NEVER)
                fprintf(stderr, "Error: '%s' never occurs\n", expression);
        int status = at == CRON_NEVER;
        for (; n > 0 && at != CRON_NEVER; n--, at = cron_next(cron, at))
                operator_print_time(at);
        cron_free(cron);
        return fflush(stdout) != 0 ? 1 : status;
}

/* ------------------------------------------------------------------------------------------------------- command */

static const struct operator_command {
        const char *name;
        int (*run)(int argc, char **argv); /* argv[0] is the name */
} operator_commands[] = {
        {"crds", operator_crds},
        {"render", operator_render},
        {"schedule", operator_schedule},
};

int command_operator(int argc, char **argv)
{
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(command_operator_help, stdout) < 0 || fflush(stdout) != 0;
        for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(operator_commands); i++)
                if (strcmp(argv[1], operator_commands[i].name) == 0)
                        return operator_commands[i].run(argc - 1, argv + 1);
        return argc > 1 ? operator_usage("unknown command", argv[1]) : operator_usage("the command is missing", NULL);
}
