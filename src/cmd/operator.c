/*
 * firesteel operator: the Kubernetes operator and its commands, one row each.
 *
 * The operator's exit statuses are 0 after SIGTERM or SIGINT, 1 for an error or a lost lease, 2 for wrong usage.
 */
#include "cmd/command.h"
#include "cmd/operator_cluster.h"
#include "cmd/operator_objects.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/civil_time.h"
#include "operator/schedule/cron.h"
#include "operator/shell/operator_daemon.h"
#include "operator/webhook/webhook_daemon.h"

#include <signal.h>
#include <stdio.h>

const char command_operator_help[] =
        "Usage: firesteel operator [FLAGS]\n"
        "       firesteel operator COMMAND [ARGUMENTS]\n"
        "\n"
        "Without a command it is the operator: it watches objects of the kinds SparkApplication and ScheduledSparkApplication and\n"
        "acts on them. `firesteel operator controller start FLAGS`, the genuine operator's command, does the same. The API server and\n"
        "the identity come from the pod, or from KUBECONFIG. `firesteel operator webhook start FLAGS` is the validating webhook.\n"
        "\n"
        "Commands:\n"
        "  create FILE          create the objects of a YAML file with applications, or an application for a C file in an image\n"
        "  create NAME          with --from: create an application with the template of a schedule\n"
        "  crds                 print the custom resource definitions, for kubectl apply -f -\n"
        "  delete NAME          delete an application or a schedule, and all that belongs to it\n"
        "  events NAME          print the events of an application\n"
        "  forward NAME         serve the UI of the driver at a port of this machine, until the driver ends\n"
        "  get NAME             print the state of an application or a schedule\n"
        "  kill NAME            delete the driver's pod; the restart policy decides what follows\n"
        "  list                 print a line for each application, with its state\n"
        "  logs NAME            print the log of the driver, or of an executor\n"
        "  render FILE          print the objects that the applications in FILE would get, without a cluster\n"
        "  reschedule NAME      start a run of a schedule now, and print its name\n"
        "  restart NAME         submit an application again, from the beginning, also after its end\n"
        "  resume NAME          resume a suspended application or schedule\n"
        "  schedule EXPRESSION  print when a schedule's next runs start, in UTC\n"
        "  suspend NAME         suspend an application or a schedule\n"
        "\n"
        "Options of commands for objects:\n"
        "  --namespace NAME   the namespace (default: that of the context)\n"
        "  -n NAME            the same\n"
        "  --all-namespaces   list: the applications of all namespaces\n"
        "  --output json      print objects in JSON; create prints what it would create, and creates nothing\n"
        "  --executor ID      logs: the log of this executor, a number or the name of a pod\n"
        "  --follow           logs, events: go on printing what is new\n"
        "  --from SCHEDULE    create: take the template of this schedule\n"
        "  --port PORT        forward: the port of 127.0.0.1 (default: that of the UI, or one of the next; 0: a free one), or\n"
        "                     PORT:DRIVER_PORT for another port of the driver\n"
        "  --image IMAGE      create: the image that has the C file (firesteel image build --add)\n"
        "\n"
        "Options of crds and render:\n"
        "  --output FORM     yaml (default) or json\n"
        "  --group GROUP     crds: sparkoperator.k8s.io (default) or spark.apache.org\n"
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
        "Flags of the operator. They are written --name=value or --name value:\n"
        "  --namespaces LIST\n"
        "      watch these namespaces, separated by commas (default: all)\n"
        "  --namespace-selector LABEL=VALUE\n"
        "      watch the namespaces with this label, also those that get it later\n"
        "  --kubeconfig FILE\n"
        "      the kubeconfig file (default: KUBECONFIG, ~/.kube/config, then the pod's account)\n"
        "  --cache-sync-timeout TIME\n"
        "      begin without namespaces that cannot be read for this time (default: 30s)\n"
        "  --controller-threads N\n"
        "      work on at most N objects at the same time; 0: 64 (default: 0)\n"
        "  --default-time-to-live-seconds N\n"
        "      delete ended applications without spec.timeToLiveSeconds after this time; 0: never (default: 0)\n"
        "  --driver-pod-creation-grace-period TIME\n"
        "      a submitted driver that is missing for this time has failed (default: 10s)\n"
        "  --max-tracked-executor-per-app N\n"
        "      the status has the states of at most N executors (default: 1000)\n"
        "  --feature-gates GATES\n"
        "      PartialRestart=true: changes of how executors are placed restart nothing; LoadSparkDefaults=true: submissions\n"
        "      read spark-defaults.conf (default: both false)\n"
        "  --enable-ui-service\n"
        "      create a service for the UI of each driver (default: true)\n"
        "  --ingress-url-format TEXT, --ingress-class-name NAME\n"
        "      create an ingress for each UI at this address, of this class (default: none)\n"
        "  --ingress-tls JSON, --ingress-annotations JSON\n"
        "      the TLS hosts and annotations of ingresses whose applications have none\n"
        "  --enable-batch-scheduler, --default-batch-scheduler NAME, --kube-scheduler-names NAMES\n"
        "      apply spec.batchScheduler; the one of applications that name none; schedulers with scheduler-plugins\n"
        "  --enable-driver-pdb\n"
        "      apply spec.driverPodDisruptionBudget (default: false)\n"
        "  --enable-apache-applications\n"
        "      run SparkApplications and SparkClusters of spark.apache.org, too, in the place of Apache's operator (default: false)\n"
        "  --leader-election\n"
        "      act only while this operator holds the lease (default: false)\n"
        "  --leader-election-lock-name NAME\n"
        "      the lease (default: spark-operator-lock)\n"
        "  --leader-election-lock-namespace NAME\n"
        "      its namespace (default: that of the pod or kubeconfig)\n"
        "  --leader-election-lease-duration TIME\n"
        "      another operator takes over after this time (default: 15s)\n"
        "  --leader-election-renew-deadline TIME\n"
        "      the leader gives up after this time without a renewal (default: 10s)\n"
        "  --leader-election-retry-period TIME\n"
        "      the time between attempts (default: 2s)\n"
        "  --workqueue-ratelimiter-bucket-qps N\n"
        "      look at N objects a second; 0: unlimited (default: 0)\n"
        "  --workqueue-ratelimiter-bucket-size N\n"
        "      look at N objects at once (default: 500)\n"
        "  --workqueue-ratelimiter-max-delay TIME\n"
        "      the longest pause after failures (default: 1000s)\n"
        "  --zap-log-level LEVEL\n"
        "      debug, info or error (default: info)\n"
        "  --zap-encoder FORM\n"
        "      the form of the log: console or json (default: console)\n"
        "  --enable-metrics\n"
        "      serve metrics (default: false)\n"
        "  --metrics-bind-address ADDRESS\n"
        "      where to serve metrics; 0: nowhere (default: :8080)\n"
        "  --metrics-endpoint PATH\n"
        "      their path (default: /metrics)\n"
        "  --metrics-prefix TEXT\n"
        "      begins the name of each metric (default: none)\n"
        "  --metrics-labels LABELS\n"
        "      labels of applications that become labels of metrics, separated by commas (default: none)\n"
        "  --metrics-job-start-latency-buckets LIST, --metrics-job-submit-latency-buckets LIST\n"
        "      the limits of the two histograms, in seconds\n"
        "  --health-probe-bind-address ADDRESS\n"
        "      where to serve /healthz and /readyz; 0: nowhere (default: :8081)\n"
        "  --scheduled-spark-application-timestamp-precision UNIT\n"
        "      the number in names of runs: nanos, micros, millis, seconds or minutes (default: nanos)\n"
        "\n"
        "Flags of the webhook, beside --kubeconfig, --health-probe-bind-address and --zap-…:\n"
        "  --webhook-port N\n"
        "      where to listen, by HTTPS (default: 9443)\n"
        "  --webhook-svc-name NAME\n"
        "      the service by which the API server reaches it (default: spark-operator-webhook-svc)\n"
        "  --webhook-svc-namespace NAME\n"
        "      its namespace (default: that of the pod or kubeconfig)\n"
        "  --webhook-secret-name NAME\n"
        "      the Secret for its certificate, which it makes and renews (default: spark-operator-webhook-certs)\n"
        "  --webhook-secret-namespace NAME\n"
        "      its namespace (default: that of the pod or kubeconfig)\n"
        "  --validating-webhook-name NAME\n"
        "      the ValidatingWebhookConfiguration that gets the certificate (default: spark-operator-webhook)\n"
        "  --enable-resource-quota-enforcement\n"
        "      refuse applications that do not fit into the resource quotas of their namespace\n"
        "\n"
        "  --help  print this\n";

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
                                return command_usage(command_operator_help, "a value is missing for", argv[i]);
                        *(is_zone ? &zone : &count) = argv[i + 1];
                        i++;
                } else if (text_starts_with(argv[i], "--")) {
                        return command_usage(command_operator_help, "unknown option", argv[i]);
                } else if (expression) {
                        return command_usage(command_operator_help,
                                             "more than one expression (put quotation marks around it):", argv[i]);
                } else {
                        expression = argv[i];
                }
        }
        char *end;
        long n = strtol(count, &end, 10);
        if (*end || n < 1 || n > 100000)
                return command_usage(command_operator_help, "--count needs a number from 1 to 100000, not", count);
        if (!expression)
                return command_usage(command_operator_help, "the expression is missing, such as '0 3 * * MON-FRI'",
                                     NULL);
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

/* ------------------------------------------------------------------------------------------------------ operator */

/* The operator, or its webhook. */
struct operator_process {
        uv_loop_t loop;
        uv_signal_t signals[2];
        struct operator_daemon *daemon;
        struct webhook_daemon *webhook;
        int status;
};

static void operator_on_ended(void *owner, int status)
{
        struct operator_process *p = owner;
        p->status = status;
        for (size_t i = 0; i < ARRAY_SIZE(p->signals); i++)
                uv_close((uv_handle_t *)&p->signals[i], NULL);
}

static void operator_on_signal(uv_signal_t *handle, int number)
{
        struct operator_process *p = handle->data;
        log_info("SparkOperator", "RECEIVED SIGNAL %s", number == SIGTERM ? "TERM" : "INT");
        if (p->daemon) {
                operator_daemon_stop(p->daemon, 0);
        } else {
                webhook_daemon_free(steal(p->webhook));
                operator_on_ended(p, 0);
        }
}

static int operator_run(const struct operator_conf *conf, bool is_webhook, struct fst_error *error)
{
        static const int numbers[] = {SIGTERM, SIGINT};
        struct operator_process p = {0};
        log_set_level(conf->log_level);
        log_set_structured(strcmp(conf->log_encoder, "json") == 0);
        signal(SIGPIPE, SIG_IGN);
        uv_loop_init(&p.loop);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                uv_signal_init(&p.loop, &p.signals[i]);
                p.signals[i].data = &p;
        }
        int r = is_webhook ? webhook_daemon_new(&p.loop, conf, &p.webhook, error)
                           : operator_daemon_new(&p.loop, conf, operator_on_ended, &p, &p.daemon, error);
        for (size_t i = 0; i < ARRAY_SIZE(numbers) && r == 0; i++)
                uv_signal_start(&p.signals[i], operator_on_signal, numbers[i]);
        if (r < 0)
                operator_on_ended(&p, 1);
        uv_run(&p.loop, UV_RUN_DEFAULT);
        uv_loop_close(&p.loop);
        return r < 0 ? r : p.status;
}

static int operator_start(int argc, char **argv, bool is_webhook)
{
        struct operator_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        int r = operator_conf_read(&conf, argc, argv, &error), status;
        if (r == 0 && conf.webhook_flag && !is_webhook)
                r = error_set(&error, -EINVAL, "--%s is a flag of `firesteel operator webhook start`", conf.webhook_flag);
        if (r == OPERATOR_CONF_E_HELP)
                status = fputs(command_operator_help, stdout) < 0 || fflush(stdout) != 0;
        else if (r < 0)
                status = command_usage(command_operator_help, error_message(&error), NULL);
        else
                status = (r = operator_run(&conf, is_webhook, &error)) < 0 ? operator_fail(&error) : r;
        operator_conf_deinit(&conf);
        error_deinit(&error);
        return status;
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
        const bool is_webhook = argc > 1 && strcmp(argv[1], "webhook") == 0;
        if (argc > 2 && (is_webhook || strcmp(argv[1], "controller") == 0) && strcmp(argv[2], "start") == 0)
                return operator_start(argc - 2, argv + 2, is_webhook);
        if (argc == 1 || text_starts_with(argv[1], "-"))
                return operator_start(argc, argv, false);
        for (int i = 2; i < argc; i++)
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(command_operator_help, stdout) < 0 || fflush(stdout) != 0;
        if (operator_cluster_has(argv[1]))
                return operator_cluster_run(argc - 1, argv + 1);
        for (size_t i = 0; i < ARRAY_SIZE(operator_commands); i++)
                if (strcmp(argv[1], operator_commands[i].name) == 0)
                        return operator_commands[i].run(argc - 1, argv + 1);
        return command_usage(command_operator_help, "unknown command", argv[1]);
}
