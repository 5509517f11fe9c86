/* See worker_task.h. The parts have the same order in all versions; each part knows its differences. */
#include "python/worker_task.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "text/json_string.h"

#include <stdio.h>

/* The only evaluation type of RDDs: pyspark.util.PythonEvalType.NON_UDF. */
#define EVAL_TYPE_NON_UDF 0

int python_version_parse(const char *text)
{
        int major, minor, used = 0;
        if (!text || sscanf(text, "%2d.%2d%n", &major, &minor, &used) != 2 || major < 1 || minor < 0 ||
            (text[used] >= '0' && text[used] <= '9'))
                return 0;
        return PYTHON_VERSION(major, minor);
}

void python_put_int(struct buf *out, int32_t x)
{
        uint32_t u = (uint32_t)x;
        const unsigned char bytes[] = {(unsigned char)(u >> 24), (unsigned char)(u >> 16), (unsigned char)(u >> 8),
                                       (unsigned char)u};
        buf_append(out, bytes, sizeof(bytes));
}

void python_put_long(struct buf *out, int64_t x)
{
        python_put_int(out, (int32_t)((uint64_t)x >> 32));
        python_put_int(out, (int32_t)(uint32_t)x);
}

static void python_put_blob(struct buf *out, const void *data, size_t len)
{
        python_put_int(out, (int32_t)len);
        buf_append(out, data, len);
}

void python_put_text(struct buf *out, const char *text)
{
        python_put_blob(out, text ? text : "", text ? strlen(text) : 0);
}

/* ------------------------------------------------------------------------------------------------ the task's context
 */

static void python_task_write_fields(const struct python_task *t, struct buf *out)
{
        python_put_int(out, t->stage);
        python_put_int(out, t->partition);
        python_put_int(out, t->attempt);
        python_put_long(out, t->task_id);
        python_put_int(out, t->cpus);
        python_put_int(out, (int32_t)t->n_resources);
        for (size_t i = 0; i < t->n_resources; i++) {
                const struct python_resource *r = &t->resources[i];
                python_put_text(out, r->name); /* the key, and the name in the value */
                python_put_text(out, r->name);
                python_put_int(out, (int32_t)r->n);
                for (size_t k = 0; k < r->n; k++)
                        python_put_text(out, r->addresses[k]);
        }
        python_put_int(out, t->properties ? (int32_t)t->properties->count : 0);
        for (struct strmap_entry *e = NULL; t->properties && (e = strmap_next(t->properties, e));) {
                python_put_text(out, e->key);
                python_put_text(out, e->value);
        }
}

static void python_task_write_resources_json(const struct python_task *t, struct buf *json)
{
        for (size_t i = 0; i < t->n_resources; i++) {
                const struct python_resource *r = &t->resources[i];
                buf_puts(json, i ? "," : "");
                json_put_string(json, r->name);
                buf_puts(json, ":{\"name\":");
                json_put_string(json, r->name);
                buf_puts(json, ",\"addresses\":[");
                for (size_t k = 0; k < r->n; k++) {
                        buf_puts(json, k ? "," : "");
                        json_put_string(json, r->addresses[k]);
                }
                buf_puts(json, "]}");
        }
}

static void python_task_write_json(const struct python_task *t, struct buf *out)
{
        _cleanup_(buf_deinit) struct buf json = BUF_INIT;
        buf_printf(&json, "{\"isBarrier\":%s,\"connInfo\":%d,\"secret\":", t->barrier ? "true" : "false",
                   t->barrier ? t->barrier_port : -1);
        if (t->barrier && t->barrier_secret)
                json_put_string(&json, t->barrier_secret);
        else
                buf_puts(&json, "null");
        buf_printf(&json, ",\"stageId\":%d,\"partitionId\":%d,\"attemptNumber\":%d,\"taskAttemptId\":%lld,\"cpus\":%d,",
                   t->stage, t->partition, t->attempt, (long long)t->task_id, t->cpus);
        if (t->version >= PYTHON_VERSION(4, 3))
                buf_printf(&json, "\"cpuAmount\":\"%d\",", t->cpus);
        buf_puts(&json, "\"resources\":{");
        python_task_write_resources_json(t, &json);
        buf_puts(&json, "},\"localProperties\":{");
        const char *comma = "";
        for (struct strmap_entry *e = NULL; t->properties && (e = strmap_next(t->properties, e)); comma = ",") {
                buf_puts(&json, comma);
                json_put_string(&json, e->key);
                buf_putc(&json, ':');
                json_put_string(&json, e->value);
        }
        buf_puts(&json, "}}");
        python_put_blob(out, json.data, json.len);
}

static void python_task_write_context(const struct python_task *t, struct buf *out)
{
        if (t->version >= PYTHON_VERSION(4, 2)) {
                python_task_write_json(t, out);
                return;
        }
        buf_putc(out, t->barrier);
        if (t->barrier || t->version < PYTHON_VERSION(4, 1)) {
                python_put_int(out, t->barrier ? t->barrier_port : -1);
                python_put_text(out, t->barrier ? t->barrier_secret : "");
        }
        python_task_write_fields(t, out);
}

/* ------------------------------------------------------------------------------------------------------ the rest */

static void python_task_write_body(const struct python_task *t, struct buf *out)
{
        python_put_int(out, t->split);
        python_put_text(out, t->python);
        python_task_write_context(t, out);
        python_put_text(out, t->files);
        python_put_int(out, (int32_t)t->n_includes);
        for (size_t i = 0; i < t->n_includes; i++)
                python_put_text(out, t->includes[i]);
        buf_putc(out, t->broadcast_secret != NULL);
        python_put_int(out, (int32_t)t->n_broadcasts);
        if (t->broadcast_secret) {
                python_put_int(out, t->broadcast_port);
                python_put_text(out, t->broadcast_secret);
        }
        for (size_t i = 0; i < t->n_broadcasts; i++) {
                const struct python_broadcast *b = &t->broadcasts[i];
                python_put_long(out, b->forget ? -b->id - 1 : b->id);
                if (!b->forget && !t->broadcast_secret)
                        python_put_text(out, b->path);
        }
        python_put_int(out, EVAL_TYPE_NON_UDF);
        if (t->version >= PYTHON_VERSION(4, 2)) { /* no settings of SQL's runner and evaluation */
                python_put_int(out, 0);
                python_put_int(out, 0);
        }
        python_put_blob(out, t->command, t->command_len);
}

void python_task_write(const struct python_task *task, struct buf *out)
{
        if (task->version < PYTHON_VERSION(4, 3)) {
                python_task_write_body(task, out);
                return;
        }
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        python_task_write_body(task, &body);
        python_put_int(out, PYTHON_MESSAGE);
        python_put_blob(out, body.data, body.len);
}
