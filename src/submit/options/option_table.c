/*
 * The tables; see option_table.h. The table of 2.4 follows its SparkSubmit.scala, those of 3.5 and 4.3 follow their
 * class files. Changes: 3.0 gave Kerberos and --num-executors to more managers, passes spark.submit.pyFiles to the
 * cluster and merges the lists of YARN. 3.1 gave --archives to all managers. 3.4 added spark.remote. 4.0 dropped Mesos.
 */
#include "submit/options/option_table.h"

#include "base/buf.h"
#include "base/mem.h"

#define Y OPTIONS_YARN
#define S OPTIONS_STANDALONE
#define M OPTIONS_MESOS
#define K OPTIONS_KUBERNETES
#define L OPTIONS_LOCAL
#define ALL (Y | S | M | K | L)
#define BOTH (MODE_CLIENT | MODE_CLUSTER)

/* clang-format off */
static const struct option_row rows_4_3[] = {
        {SUBMIT_MASTER, ALL, BOTH, "spark.master"},
        {SUBMIT_REMOTE, ALL, BOTH, "spark.remote"},
        {SUBMIT_DEPLOY_MODE, ALL, BOTH, "spark.submit.deployMode"},
        {SUBMIT_NAME, ALL, BOTH, "spark.app.name"},
        {OPTION_IVY_PATH, ALL, MODE_CLIENT, "spark.jars.ivy"},
        {SUBMIT_DRIVER_MEMORY, ALL, MODE_CLIENT, "spark.driver.memory"},
        {SUBMIT_DRIVER_CLASS_PATH, ALL, BOTH, "spark.driver.extraClassPath"},
        {SUBMIT_DRIVER_JAVA_OPTIONS, ALL, BOTH, "spark.driver.extraJavaOptions"},
        {SUBMIT_DRIVER_LIBRARY_PATH, ALL, BOTH, "spark.driver.extraLibraryPath"},
        {SUBMIT_PRINCIPAL, ALL, BOTH, "spark.kerberos.principal"},
        {SUBMIT_KEYTAB, ALL, BOTH, "spark.kerberos.keytab"},
        {SUBMIT_PY_FILES, ALL, MODE_CLUSTER, "spark.submit.pyFiles"},
        {SUBMIT_PACKAGES, S | K, MODE_CLUSTER, "spark.jars.packages"},
        {SUBMIT_REPOSITORIES, S | K, MODE_CLUSTER, "spark.jars.repositories"},
        {OPTION_IVY_PATH, S | K, MODE_CLUSTER, "spark.jars.ivy"},
        {SUBMIT_EXCLUDE_PACKAGES, S | K, MODE_CLUSTER, "spark.jars.excludes"},
        {SUBMIT_QUEUE, Y, BOTH, "spark.yarn.queue"},
        {SUBMIT_PY_FILES, Y, BOTH, "spark.yarn.dist.pyFiles", true},
        {SUBMIT_JARS, Y, BOTH, "spark.yarn.dist.jars", true},
        {SUBMIT_FILES, Y, BOTH, "spark.yarn.dist.files", true},
        {SUBMIT_ARCHIVES, Y, BOTH, "spark.yarn.dist.archives", true},
        {SUBMIT_NUM_EXECUTORS, Y | K, BOTH, "spark.executor.instances"},
        {SUBMIT_EXECUTOR_CORES, S | Y | K, BOTH, "spark.executor.cores"},
        {SUBMIT_EXECUTOR_MEMORY, S | Y | K, BOTH, "spark.executor.memory"},
        {SUBMIT_TOTAL_EXECUTOR_CORES, S, BOTH, "spark.cores.max"},
        {SUBMIT_FILES, L | S | K, BOTH, "spark.files"},
        {SUBMIT_ARCHIVES, L | S | K, BOTH, "spark.archives"},
        {SUBMIT_JARS, L, MODE_CLIENT, "spark.jars"},
        {SUBMIT_JARS, S | K, BOTH, "spark.jars"},
        {SUBMIT_DRIVER_MEMORY, S | Y | K, MODE_CLUSTER, "spark.driver.memory"},
        {SUBMIT_DRIVER_CORES, S | Y | K, MODE_CLUSTER, "spark.driver.cores"},
        {OPTION_SUPERVISE_TEXT, S, MODE_CLUSTER, "spark.driver.supervise"},
        {OPTION_IVY_PATH, S, MODE_CLUSTER, "spark.jars.ivy"},
        {OPTION_LOCAL_JARS, ALL, MODE_CLIENT, "spark.repl.local.jars"},
};

static const struct option_row rows_3_5[] = {
        {SUBMIT_MASTER, ALL, BOTH, "spark.master"},
        {SUBMIT_REMOTE, ALL, BOTH, "spark.remote"},
        {SUBMIT_DEPLOY_MODE, ALL, BOTH, "spark.submit.deployMode"},
        {SUBMIT_NAME, ALL, BOTH, "spark.app.name"},
        {OPTION_IVY_PATH, ALL, MODE_CLIENT, "spark.jars.ivy"},
        {SUBMIT_DRIVER_MEMORY, ALL, MODE_CLIENT, "spark.driver.memory"},
        {SUBMIT_DRIVER_CLASS_PATH, ALL, BOTH, "spark.driver.extraClassPath"},
        {SUBMIT_DRIVER_JAVA_OPTIONS, ALL, BOTH, "spark.driver.extraJavaOptions"},
        {SUBMIT_DRIVER_LIBRARY_PATH, ALL, BOTH, "spark.driver.extraLibraryPath"},
        {SUBMIT_PRINCIPAL, ALL, BOTH, "spark.kerberos.principal"},
        {SUBMIT_KEYTAB, ALL, BOTH, "spark.kerberos.keytab"},
        {SUBMIT_PY_FILES, ALL, MODE_CLUSTER, "spark.submit.pyFiles"},
        {SUBMIT_PACKAGES, S | M | K, MODE_CLUSTER, "spark.jars.packages"},
        {SUBMIT_REPOSITORIES, S | M | K, MODE_CLUSTER, "spark.jars.repositories"},
        {OPTION_IVY_PATH, S | M | K, MODE_CLUSTER, "spark.jars.ivy"},
        {SUBMIT_EXCLUDE_PACKAGES, S | M | K, MODE_CLUSTER, "spark.jars.excludes"},
        {SUBMIT_QUEUE, Y, BOTH, "spark.yarn.queue"},
        {SUBMIT_PY_FILES, Y, BOTH, "spark.yarn.dist.pyFiles", true},
        {SUBMIT_JARS, Y, BOTH, "spark.yarn.dist.jars", true},
        {SUBMIT_FILES, Y, BOTH, "spark.yarn.dist.files", true},
        {SUBMIT_ARCHIVES, Y, BOTH, "spark.yarn.dist.archives", true},
        {SUBMIT_NUM_EXECUTORS, Y | K, BOTH, "spark.executor.instances"},
        {SUBMIT_EXECUTOR_CORES, S | Y | K, BOTH, "spark.executor.cores"},
        {SUBMIT_EXECUTOR_MEMORY, S | M | Y | K, BOTH, "spark.executor.memory"},
        {SUBMIT_TOTAL_EXECUTOR_CORES, S | M, BOTH, "spark.cores.max"},
        {SUBMIT_FILES, L | S | M | K, BOTH, "spark.files"},
        {SUBMIT_ARCHIVES, L | S | M | K, BOTH, "spark.archives"},
        {SUBMIT_JARS, L, MODE_CLIENT, "spark.jars"},
        {SUBMIT_JARS, S | M | K, BOTH, "spark.jars"},
        {SUBMIT_DRIVER_MEMORY, S | M | Y | K, MODE_CLUSTER, "spark.driver.memory"},
        {SUBMIT_DRIVER_CORES, S | M | Y | K, MODE_CLUSTER, "spark.driver.cores"},
        {OPTION_SUPERVISE_TEXT, S | M, MODE_CLUSTER, "spark.driver.supervise"},
        {OPTION_IVY_PATH, S, MODE_CLUSTER, "spark.jars.ivy"},
        {OPTION_LOCAL_JARS, ALL, MODE_CLIENT, "spark.repl.local.jars"},
};

static const struct option_row rows_2_4[] = {
        {SUBMIT_MASTER, ALL, BOTH, "spark.master"},
        {SUBMIT_DEPLOY_MODE, ALL, BOTH, "spark.submit.deployMode"},
        {SUBMIT_NAME, ALL, BOTH, "spark.app.name"},
        {OPTION_IVY_PATH, ALL, MODE_CLIENT, "spark.jars.ivy"},
        {SUBMIT_DRIVER_MEMORY, ALL, MODE_CLIENT, "spark.driver.memory"},
        {SUBMIT_DRIVER_CLASS_PATH, ALL, BOTH, "spark.driver.extraClassPath"},
        {SUBMIT_DRIVER_JAVA_OPTIONS, ALL, BOTH, "spark.driver.extraJavaOptions"},
        {SUBMIT_DRIVER_LIBRARY_PATH, ALL, BOTH, "spark.driver.extraLibraryPath"},
        {SUBMIT_PACKAGES, S | M, MODE_CLUSTER, "spark.jars.packages"},
        {SUBMIT_REPOSITORIES, S | M, MODE_CLUSTER, "spark.jars.repositories"},
        {OPTION_IVY_PATH, S | M, MODE_CLUSTER, "spark.jars.ivy"},
        {SUBMIT_EXCLUDE_PACKAGES, S | M, MODE_CLUSTER, "spark.jars.excludes"},
        {SUBMIT_QUEUE, Y, BOTH, "spark.yarn.queue"},
        {SUBMIT_NUM_EXECUTORS, Y, BOTH, "spark.executor.instances"},
        {SUBMIT_PY_FILES, Y, BOTH, "spark.yarn.dist.pyFiles"},
        {SUBMIT_JARS, Y, BOTH, "spark.yarn.dist.jars"},
        {SUBMIT_FILES, Y, BOTH, "spark.yarn.dist.files"},
        {SUBMIT_ARCHIVES, Y, BOTH, "spark.yarn.dist.archives"},
        {SUBMIT_PRINCIPAL, Y, BOTH, "spark.yarn.principal"},
        {SUBMIT_KEYTAB, Y, BOTH, "spark.yarn.keytab"},
        {SUBMIT_EXECUTOR_CORES, S | Y | K, BOTH, "spark.executor.cores"},
        {SUBMIT_EXECUTOR_MEMORY, S | M | Y | K, BOTH, "spark.executor.memory"},
        {SUBMIT_TOTAL_EXECUTOR_CORES, S | M | K, BOTH, "spark.cores.max"},
        {SUBMIT_FILES, L | S | M | K, BOTH, "spark.files"},
        {SUBMIT_JARS, L, MODE_CLIENT, "spark.jars"},
        {SUBMIT_JARS, S | M | K, BOTH, "spark.jars"},
        {SUBMIT_DRIVER_MEMORY, S | M | Y | K, MODE_CLUSTER, "spark.driver.memory"},
        {SUBMIT_DRIVER_CORES, S | M | Y | K, MODE_CLUSTER, "spark.driver.cores"},
        {OPTION_SUPERVISE_TEXT, S | M, MODE_CLUSTER, "spark.driver.supervise"},
        {OPTION_IVY_PATH, S, MODE_CLUSTER, "spark.jars.ivy"},
        {OPTION_LOCAL_JARS, ALL, MODE_CLIENT, "spark.repl.local.jars"},
};
/* clang-format on */

const struct option_row *option_table(enum submit_compat compat, size_t *n)
{
        switch (compat) {
        case COMPAT_2_4:
                *n = ARRAY_SIZE(rows_2_4);
                return rows_2_4;
        case COMPAT_3_5:
                *n = ARRAY_SIZE(rows_3_5);
                return rows_3_5;
        default:
                *n = ARRAY_SIZE(rows_4_3);
                return rows_4_3;
        }
}

void option_table_apply(enum submit_compat compat, unsigned manager, bool cluster_mode,
                        const char *(*value)(void *context, int source), void *context, struct strmap *conf)
{
        size_t n;
        const struct option_row *rows = option_table(compat, &n);
        for (size_t i = 0; i < n; i++) {
                const struct option_row *row = &rows[i];
                if (!(row->managers & manager) || !(row->modes & (cluster_mode ? MODE_CLUSTER : MODE_CLIENT)))
                        continue;
                const char *new = value(context, row->source);
                if (!new)
                        continue;
                const char *old = row->merge ? strmap_get(conf, row->key) : NULL;
                if (!old) {
                        strmap_set(conf, row->key, new);
                        continue;
                }
                _cleanup_free_ char *merged = file_list_merge(old, new);
                strmap_set(conf, row->key, merged ? merged : "");
        }
}

static void option_table_put_names(struct buf *out, const char *list)
{
        while (list && *list) {
                size_t n = strcspn(list, ","), first = 0, end = n;
                while (first < n && (unsigned char)list[first] <= ' ')
                        first++;
                while (end > first && (unsigned char)list[end - 1] <= ' ')
                        end--;
                if (first < end) {
                        if (out->len > 0)
                                buf_putc(out, ',');
                        buf_append(out, list + first, end - first);
                }
                list += n + (list[n] == ',');
        }
}

char *file_list_merge(const char *first, const char *second)
{
        struct buf out = BUF_INIT;
        option_table_put_names(&out, first);
        option_table_put_names(&out, second);
        return out.len > 0 ? buf_steal(&out) : NULL;
}
