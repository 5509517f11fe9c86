/* firesteel simulate --operator: random worlds of the core of SparkApplications (operator/core/application_world.h). */
#include "base/clock.h"
#include "base/mem.h"
#include "cmd/simulate/simulate.h"
#include "operator/core/application_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char simulate_operator_help[] =
        "Usage: firesteel simulate --operator [OPTIONS]\n"
        "\n"
        "Run the state machine of SparkApplications against a simulated API server, with faults, and check that no\n"
        "application is submitted too often or forgotten. Print how long it takes. Probabilities are those of one request or\n"
        "of one step of 400 ms.\n"
        "\n"
        "  --applications N        (6) applications; users change every other one, and its driver may be lost\n"
        "  --steps N               (1500) steps with faults; steps without follow until all applications rest\n"
        "  --failed-requests P     (0.167) the server fails a request before it has its effect\n"
        "  --lost-answers P        (0.167) the answer to a request is lost\n"
        "  --refused-services P    (0.125) the server refuses a UI service\n"
        "  --late-events P         (0.333) the events of an application come a step later\n"
        "  --repeated-events P     (0.125) they come twice\n"
        "  --crashes P             (0.0067) the operator dies, and another begins\n"
        "  --clock-jumps P         (0.0025) the clock is set back or forward by an hour\n"
        "  --wrong-clocks P        (0.5) the clock of an operator that begins is wrong by up to two days\n"
        "  --times-to-live P       (0.333) an application has a time to live of at most 30 s\n"
        "  --changes P             (0.033) a user changes, suspends or deletes an application\n"
        "  --driver-ends P         (0.025) a driver ends\n"
        "  --failed-drivers P      (0.5) a driver that ends has failed\n"
        "  --lost-drivers P        (0.333) a driver that has failed was evicted\n"
        "  --seed N                (1) seed of the random numbers: the same seed gives the same run\n"
        "  --seeds A..B            a run for each seed from A to B\n"
        "  --output text|json      (text) how results are printed\n"
        "  --help                  show this\n";

struct operator_request {
        struct application_world_options o;
        uint64_t last_seed;
        bool json;
};

static int simulate_operator_run(const struct operator_request *r, uint64_t seed)
{
        struct application_world_options o = r->o;
        struct application_world_result result;
        o.seed = seed;
        const int64_t start = now_ns();
        application_world_run(&o, &result);
        const double seconds = (double)(now_ns() - start) / 1e9;
        const char *format = r->json ? "{\"seed\": %" PRIu64 ", \"applications\": %d, \"virtualSeconds\": %" PRId64
                                       ", \"requests\": %" PRIu64 ", \"submissions\": %" PRIu64
                                       ", \"statusWrites\": %" PRIu64 ", \"crashes\": %" PRIu64
                                       ", \"seconds\": %.3f, \"violation\": %s%s%s}\n"
                                     : "seed %" PRIu64 ": %d applications in %" PRId64 " virtual seconds, %" PRIu64
                                       " requests, %" PRIu64 " submissions, %" PRIu64 " status writes, %" PRIu64
                                       " crashes, %.3f s\n";
        const char *quote = result.violation ? "\"" : "";
        printf(format, seed, o.applications, result.virtual_ms / 1000, result.requests, result.submissions,
               result.status_writes, result.crashes, seconds, quote, result.violation ? result.violation : "null",
               quote);
        if (result.violation)
                fprintf(stderr, "Error: seed %" PRIu64 ": %s\n", seed, result.violation);
        int status = result.violation != NULL;
        free(result.violation);
        return status;
}

static int simulate_operator_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s '%s' (see `firesteel simulate --operator --help`)\n", problem, word);
        return 2;
}

/* Sets the option @name. Returns false for an invalid value. *@known: whether it is an option. */
static bool operator_request_set(struct operator_request *r, const char *name, const char *value, bool *known)
{
        struct application_world_options *o = &r->o;
        const struct simulate_option options[] = {
                {"--applications", &o->applications, NULL, 1, 1000000},
                {"--steps", &o->steps, NULL, 0, 1000000},
                {"--failed-requests", NULL, &o->failed_requests, 0, 1},
                {"--lost-answers", NULL, &o->lost_answers, 0, 1},
                {"--refused-services", NULL, &o->refused_services, 0, 1},
                {"--late-events", NULL, &o->late_events, 0, 1},
                {"--repeated-events", NULL, &o->repeated_events, 0, 1},
                {"--crashes", NULL, &o->crashes, 0, 1},
                {"--clock-jumps", NULL, &o->clock_jumps, 0, 1},
                {"--wrong-clocks", NULL, &o->wrong_clocks, 0, 1},
                {"--times-to-live", NULL, &o->times_to_live, 0, 1},
                {"--changes", NULL, &o->changes, 0, 1},
                {"--driver-ends", NULL, &o->driver_ends, 0, 1},
                {"--failed-drivers", NULL, &o->failed_drivers, 0, 1},
                {"--lost-drivers", NULL, &o->lost_drivers, 0, 1},
        };
        const struct simulate_common common = {&o->seed, &r->last_seed, &r->json};
        return simulate_set_option(options, ARRAY_SIZE(options), &common, name, value, known);
}

int simulate_operator(int argc, char **argv)
{
        struct operator_request r = {.o = application_world_faults, .last_seed = 1};
        int status = 0;
        r.o.seed = 1;
        for (int i = 1; i < argc; i++) {
                bool known;
                if (strcmp(argv[i], "--operator") == 0)
                        continue;
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(simulate_operator_help, stdout) < 0;
                const bool valid = operator_request_set(&r, argv[i], i + 1 < argc ? argv[i + 1] : "", &known);
                if (!known)
                        return simulate_operator_usage("unknown option", argv[i]);
                if (i + 1 == argc)
                        return simulate_operator_usage("a value is missing after", argv[i]);
                if (!valid)
                        return simulate_operator_usage("invalid value:", argv[i + 1]);
                i++;
        }
        for (uint64_t seed = r.o.seed; seed <= r.last_seed; seed++)
                status = MAX(status, simulate_operator_run(&r, seed));
        return fflush(stdout) == 0 ? status : 1;
}
