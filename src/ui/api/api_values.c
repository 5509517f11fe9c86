/* Writes the values that several resources of /api/v1 contain; see api_internal.h. */
#include "ui/api/api_internal.h"

#include <stdio.h>
#include <time.h>

void api_put_date(struct json_out *j, const char *name, int64_t ms)
{
        char text[64] = "";
        int64_t seconds = ms / 1000, rest = ms % 1000;
        if (rest < 0) {
                rest += 1000;
                seconds--;
        }
        time_t t = (time_t)seconds;
        struct tm tm;
        if (gmtime_r(&t, &tm))
                snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dGMT", tm.tm_year + 1900, tm.tm_mon + 1,
                         tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)rest);
        json_text(j, name, text);
}

void api_put_map(struct json_out *j, const char *name, const struct strmap *map)
{
        json_begin_in(j, name);
        for (struct strmap_entry *e = NULL; (e = strmap_next(map, e));)
                json_text(j, e->key, e->value);
        json_end(j);
}

void api_put_peaks(struct json_out *j, const char *name, const struct executor_peaks *peaks)
{
        json_begin_in(j, name);
        for (size_t i = 0; i < EXECUTOR_PEAKS; i++)
                json_int(j, executor_peak_names[i], peaks->values[i]);
        json_end(j);
}

void api_put_run_metrics(struct json_out *j, const struct task_metrics *m)
{
        json_int(j, "executorDeserializeTime", m->executor_deserialize_ms);
        json_int(j, "executorDeserializeCpuTime", m->executor_deserialize_cpu_ns);
        json_int(j, "executorRunTime", m->executor_run_ms);
        json_int(j, "executorCpuTime", m->executor_cpu_ns);
        json_int(j, "resultSize", m->result_size);
        json_int(j, "jvmGcTime", m->jvm_gc_ms);
        json_int(j, "resultSerializationTime", m->result_serialization_ms);
        json_int(j, "memoryBytesSpilled", m->memory_bytes_spilled);
        json_int(j, "diskBytesSpilled", m->disk_bytes_spilled);
        json_int(j, "peakExecutionMemory", m->peak_execution_memory);
}

void api_put_killed(struct json_out *j, const status_killed_list *list)
{
        json_begin_in(j, "killedTasksSummary");
        for (size_t i = 0; i < list->len; i++)
                json_int(j, list->data[i].reason, list->data[i].n);
        json_end(j);
}

void api_put_accumulables(struct json_out *j, const struct accumulable *list, size_t n)
{
        json_list(j, "accumulatorUpdates");
        for (size_t i = 0; i < n; i++) {
                json_begin(j);
                json_int(j, "id", list[i].id);
                json_text(j, "name", list[i].name);
                if (list[i].update)
                        json_text(j, "update", list[i].update);
                json_text(j, "value", list[i].value);
                json_end(j);
        }
        json_list_end(j);
}
