/*
 * Tests the event log against genuine Spark's: every line of a scripted application is JSON and has the fields of the
 * same event in Spark's logs (event_fields.inc) in the same order. Files are named, rolled, compressed and finished as
 * Spark's.
 */
#include "driver/events/event_log.h"

#include "driver/events/scripted_application.h"
#include "text/json_string.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/codec/java_blocks.h"
#include "unit/temp_dir.h"

#include <dirent.h>
#include <jansson.h>
#include <lz4.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#include <cmocka.h>

/* ------------------------------------------------------------------------------------------ files to test */

static struct event_log_options plain_options(void)
{
        struct event_log_options o = event_log_defaults();
        o.file.dir = temp_dir;
        o.file.app_id = SCRIPTED_APPLICATION_ID;
        o.file.codec = EVENT_CODEC_NONE;
        o.file.rolling = false;
        o.block_updates = true;
        return o;
}

static const char *path_of(const char *name)
{
        static char path[256];
        snprintf(path, sizeof(path), "%s/%s", temp_dir, name);
        return path;
}

static bool log_exists(const char *name)
{
        return access(path_of(name), F_OK) == 0;
}

static void read_file(const char *name, struct buf *out)
{
        FILE *file = fopen(path_of(name), "re");
        assert_non_null(file);
        buf_reset(out);
        char block[4096];
        for (size_t n; (n = fread(block, 1, sizeof(block), file)) > 0;)
                buf_append(out, block, n);
        fclose(file);
}

static void play_events(const struct event_log_options *options, int rounds, bool rest)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct event_log *log = NULL;
        if (event_log_open(&log, options, &error) < 0)
                fail_msg("%s", error_message(&error));
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, event_log_listener(log));
        listener_bus_start(bus);
        for (int i = 0; i < rounds; i++)
                scripted_application_play(bus);
        if (rest)
                scripted_application_play_rest(bus);
        listener_bus_free(bus);
        assert_true(event_log_events(log) > 0);
        event_log_free(log);
}

/* ------------------------------------------------------------------------------------- fields of Spark's */

enum { NEW_EVENT, REQUIRED, OPTIONAL_FIELD };
static const struct {
        int kind;
        const char *text;
} fields[] = {
#define EVENT(name) {NEW_EVENT, name},
#define FIELD(path) {REQUIRED, path},
#define OPTIONAL(path) {OPTIONAL_FIELD, path},
#include "events/event_fields.inc"
        {NEW_EVENT, NULL},
};

typedef VEC(char *) paths;

static void add_path(paths *list, const char *path)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], path) == 0)
                        return;
        vec_push(list, mem_strdup(path));
}

/* Maps whose keys are data, not fields. */
static bool is_map(const char *key)
{
        static const char *const maps[] = {
                "Properties",         "JVM Information",   "Spark Properties", "Hadoop Properties", "System Properties",
                "Metrics Properties", "Classpath Entries", "Log Urls",         "Attributes",        "Resources"};
        for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
                if (strcmp(maps[i], key) == 0)
                        return true;
        return false;
}

static void collect(paths *list, const char *prefix, json_t *value)
{
        const char *key;
        json_t *item;
        size_t i;
        if (json_is_object(value)) {
                json_object_foreach(value, key, item) {
                        _cleanup_free_ char *path = mem_printf("%s/%s", prefix, key);
                        add_path(list, path);
                        if (!is_map(key))
                                collect(list, path, item);
                }
        } else if (json_is_array(value)) {
                _cleanup_free_ char *path = mem_printf("%s[]", prefix);
                json_array_foreach(value, i, item) {
                        collect(list, path, item);
                }
        }
}

static bool list_has(const paths *list, const char *path)
{
        for (size_t i = 0; i < list->len; i++)
                if (strcmp(list->data[i], path) == 0)
                        return true;
        return false;
}

/* A field of an element is required only if the array has elements. */
static bool applies(const paths *ours, const char *path)
{
        const char *bracket = NULL;
        for (const char *p = path; (p = strstr(p, "[]/")); p++)
                bracket = p;
        if (!bracket)
                return true;
        for (size_t i = 0; i < ours->len; i++)
                if (strncmp(ours->data[i], path, (size_t)(bracket - path) + 3) == 0)
                        return true;
        return false;
}

/* Compares one line with the field list of the event at fields[@at]. */
static void compare(const char *name, const paths *ours, size_t at)
{
        size_t next = 0;
        for (size_t i = at + 1; fields[i].kind != NEW_EVENT; i++) {
                const char *path = fields[i].text;
                if (next < ours->len && strcmp(ours->data[next], path) == 0)
                        next++;
                else if (list_has(ours, path))
                        fail_msg("%s: %s is not where Spark has it; %s is", name, path, ours->data[next]);
                else if (fields[i].kind == REQUIRED && applies(ours, path))
                        fail_msg("%s: %s is missing", name, path);
        }
        if (next < ours->len)
                fail_msg("%s: Spark has no %s", name, ours->data[next]);
}

static bool check_line(json_t *event, bool *seen)
{
        const char *reason = json_string_value(json_object_get(json_object_get(event, "Task End Reason"), "Reason"));
        if (!reason)
                reason = json_string_value(json_object_get(json_object_get(event, "Job Result"), "Result"));
        const char *kind = json_string_value(json_object_get(event, "Event"));
        _cleanup_free_ char *name = mem_printf(reason ? "%s:%s" : "%s%s", kind, reason ? reason : "");
        paths ours = {0};
        collect(&ours, "", event);
        bool found = false;
        for (size_t i = 0; fields[i].text; i++)
                if (fields[i].kind == NEW_EVENT && strcmp(fields[i].text, name) == 0) {
                        compare(name, &ours, i);
                        seen[i] = found = true;
                }
        for (size_t i = 0; i < ours.len; i++)
                free(ours.data[i]);
        vec_deinit(&ours);
        return found;
}

static void writes_the_fields_of_spark(void **state)
{
        struct event_log_options o = plain_options();
        play_events(&o, 1, true);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        read_file(SCRIPTED_APPLICATION_ID, &text);
        bool seen[ARRAY_SIZE(fields)] = {0};
        int unknown = 0, lines = 0;
        for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
                *end = 0;
                json_error_t error;
                json_t *event = json_loads(line, JSON_REJECT_DUPLICATES, &error);
                if (!event)
                        fail_msg("line %d: %s at %d: %s", lines + 1, error.text, error.position, line);
                unknown += !check_line(event, seen);
                json_decref(event);
        }
        assert_int_equal(unknown, 2); /* ends of tasks that were denied the commit: no genuine log has one */
        for (size_t i = 0; fields[i].text; i++)
                if (fields[i].kind == NEW_EVENT && !seen[i])
                        fail_msg("no line was a %s", fields[i].text);
}

/* The member at a path of keys and indices ("Task Info", "0", …). Fails the test if there is none. */
static json_t *member_at(json_t *value, const char *path)
{
        _cleanup_free_ char *copy = mem_strdup(path);
        for (char *rest = copy, *part; (part = strsep(&rest, "/"));) {
                value = json_is_array(value) ? json_array_get(value, (size_t)atoi(part)) : json_object_get(value, part);
                if (!value)
                        fail_msg("no %s in %s", part, path);
        }
        return value;
}

static json_t *nth_event(const struct buf *text, const char *name, int n)
{
        _cleanup_free_ char *head = mem_printf("{\"Event\":\"SparkListener%s\"", name);
        for (const char *line = text->data; line && *line; line = strchr(line, '\n') + 1)
                if (strncmp(line, head, strlen(head)) == 0 && n-- == 0)
                        return json_loadb(line, (size_t)(strchr(line, '\n') - line), 0, NULL);
        fail_msg("no %s", name);
        return NULL;
}

static void assert_value(json_t *event, const char *path, int64_t expected)
{
        assert_int_equal(json_integer_value(member_at(event, path)), expected);
}

static void assert_text(json_t *event, const char *path, const char *expected)
{
        assert_string_equal(json_string_value(member_at(event, path)), expected);
}

static const char *hide_passwords(void *context, const char *key, const char *value)
{
        return strstr(key, context) ? "*********(redacted)" : value;
}

static void writes_values_into_their_fields(void **state)
{
        struct event_log_options o = plain_options();
        o.redact = (struct event_json_redact){hide_passwords, "password"};
        play_events(&o, 1, true);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        read_file(SCRIPTED_APPLICATION_ID, &text);
        assert_null(strstr(text.data, "hunter2"));

        json_t *e = nth_event(&text, "TaskEnd", 1); /* the second task of stage 0 */
        assert_value(e, "Stage ID", 0);
        assert_text(e, "Task Type", "ShuffleMapTask");
        assert_value(e, "Task Info/Task ID", 1);
        assert_value(e, "Task Info/Finish Time", 1700000001051);
        assert_value(e, "Task Metrics/Shuffle Write Metrics/Shuffle Bytes Written", 300);
        assert_value(e, "Task Metrics/Input Metrics/Records Read", 10);
        assert_text(e, "Task Info/Accumulables/2/Name", "internal.metrics.executorRunTime");
        assert_value(e, "Task Info/Accumulables/2/ID", 2);
        assert_value(e, "Task Info/Accumulables/2/Update", 40);
        assert_value(e, "Task Info/Accumulables/2/Value", 80);
        json_decref(e);

        e = nth_event(&text, "TaskEnd", 2);
        assert_text(e, "Task End Reason/Description", "line 7 is not \"text\"");
        assert_text(e, "Task End Reason/Stack Trace/0/File Name", "words.c");
        assert_true(json_is_null(member_at(e, "Task End Reason/Stack Trace/1/File Name")));
        assert_true(json_is_true(member_at(e, "Task Info/Failed")));
        assert_int_equal(json_array_size(member_at(e, "Task End Reason/Accumulator Updates")), 2);
        assert_value(e, "Task End Reason/Accumulator Updates/0/ID", 2);
        assert_text(e, "Task End Reason/Accumulator Updates/0/Update", "40");
        assert_true(json_is_false(member_at(e, "Task End Reason/Accumulator Updates/0/Internal")));
        assert_text(e, "Task End Reason/Accumulator Updates/1/Update", "1000");
        json_decref(e);

        e = nth_event(&text, "StageCompleted", 0);
        assert_value(e, "Stage Info/Accumulables/2/Value", 5 * 40);
        assert_value(e, "Stage Info/RDD Info/0/Parent IDs/0", 0);
        assert_text(e, "Stage Info/RDD Info/0/Scope", "{\"id\":\"1\",\"name\":\"flat_map\"}");
        json_decref(e);

        e = nth_event(&text, "JobStart", 0);
        assert_text(e, "Properties/spark.job.description", "count \"words\"");
        assert_value(e, "Stage IDs/1", 1);
        json_decref(e);

        e = nth_event(&text, "EnvironmentUpdate", 0);
        assert_text(e, "Spark Properties/spark.my.password", "*********(redacted)");
        assert_text(e, "Spark Properties/spark.master", "local[2]");
        json_decref(e);

        /* The other events: invalid UTF-8, and escapes. */
        e = nth_event(&text, "TaskEnd", 14 + 2);
        assert_text(e, "Task End Reason/Class Name", "a\"b\\c");
        assert_text(e, "Task End Reason/Description",
                    "bytes \xef\xbf\xbd\xef\xbf\xbd\x01\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xe2\x82\xac");
        assert_text(e, "Task Info/Locality", "ANY");
        assert_true(json_is_true(member_at(e, "Task Info/Speculative")));
        json_decref(e);
}

static void writes_any_bytes_as_valid_json(void **state)
{
        unsigned seed = 7;
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        for (int round = 0; round < 20000; round++) {
                char text[40];
                size_t n = (size_t)rand_r(&seed) % sizeof(text);
                static const unsigned char favourites[] = {'"',  '\\', 0,    0x7f, 0x80, 0xc0, 0xc3, 0xa9, 0xe2, 0x82,
                                                           0xac, 0xed, 0xa0, 0xf0, 0x9f, 0x98, 0x80, 0xf4, 0xff};
                for (size_t i = 0; i < n; i++)
                        text[i] = rand_r(&seed) % 2 ? (char)favourites[(size_t)rand_r(&seed) % sizeof(favourites)]
                                                    : (char)rand_r(&seed);
                buf_reset(&line);
                json_put_string_n(&line, text, n);
                json_error_t error;
                json_t *value = json_loadb(line.data, line.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
                if (!value)
                        fail_msg("%s: %s", error.text, line.data);
                /* Valid text is unchanged. */
                json_t *direct = json_stringn(text, n); /* NULL unless UTF-8 */
                if (direct)
                        assert_true(json_equal(value, direct));
                else
                        assert_non_null(memmem(line.data, line.len, "\xef\xbf\xbd", 3));
                json_decref(direct);
                json_decref(value);
        }
}

/* ------------------------------------------------------------------------------------------------- files */

static int mode_of(const char *name)
{
        struct stat st;
        assert_int_equal(stat(path_of(name), &st), 0);
        return st.st_mode & 07777;
}

static void renames_single_file_at_the_end(void **state)
{
        struct event_log_options o = plain_options();
        o.file.app_id = "A fine:mind$dollar{bills}.1";
        o.file.attempt_id = "2";
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct event_log *log = NULL;
        mode_t mask = umask(077);
        assert_int_equal(event_log_open(&log, &o, &error), 0);
        umask(mask);
        assert_true(log_exists("a-fine-mind_dollar_bills__1_2.inprogress"));
        assert_int_equal(mode_of("a-fine-mind_dollar_bills__1_2.inprogress"), 0660);
        event_log_free(log);
        assert_false(log_exists("a-fine-mind_dollar_bills__1_2.inprogress"));
        assert_true(log_exists("a-fine-mind_dollar_bills__1_2"));

        assert_int_equal(event_log_open(&log, &o, &error), -EEXIST);
        assert_non_null(strstr(error_message(&error), "spark.eventLog.overwrite"));
        o.file.overwrite = true;
        assert_int_equal(event_log_open(&log, &o, &error), 0);
        event_log_free(log);
}

static void rejects_invalid_directories(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct event_log *log = NULL;
        struct event_log_options o = plain_options();
        o.file.dir = "/nonexistent/logs";
        assert_int_equal(event_log_open(&log, &o, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "spark.eventLog.dir /nonexistent/logs"));
        o.file.dir = "file:///dev/null";
        assert_int_equal(event_log_open(&log, &o, &error), -ENOTDIR);
        o.file.dir = "unknown://name:8020/logs";
        assert_int_equal(event_log_open(&log, &o, &error), -EPROTONOSUPPORT);
        o.file.dir = "file:logs"; /* a scheme with a relative name */
        assert_int_equal(event_log_open(&log, &o, &error), -EINVAL);
        o.file.dir = temp_dir;
        o.file.rolling = true;
        o.file.max_file_size = 1000;
        assert_int_equal(event_log_open(&log, &o, &error), -EINVAL);
        assert_null(log);
        enum event_codec codec = EVENT_CODEC_NONE;
        assert_int_equal(event_codec_parse("lzf", &codec, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "use zstd, lz4 or snappy"));
        assert_int_equal(event_codec_parse("Snappy", &codec, &error), 0);
        assert_int_equal(codec, EVENT_CODEC_SNAPPY);
        assert_int_equal(event_codec_parse("org.apache.spark.io.LZ4CompressionCodec", &codec, &error), 0);
        assert_int_equal(codec, EVENT_CODEC_LZ4);
}

static void reads_configuration(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        struct event_log_options o = event_log_defaults();
        assert_int_equal(event_log_read_conf(&o, &conf, &error), 0);
        assert_string_equal(o.file.dir, "/tmp/spark-events");
        assert_int_equal(o.file.codec, EVENT_CODEC_ZSTD);
        assert_int_equal(o.file.max_file_size, 128 << 20);
        assert_int_equal(o.file.buffer_size, 100 << 10);
        assert_true(o.file.rolling);
        assert_true(o.accumulables);
        assert_true(!o.block_updates);
        assert_true(!o.file.overwrite);
        free((char *)o.file.dir);
        conf_set(&conf, "spark.eventLog.compression.codec", "lz4");
        conf_set(&conf, "spark.eventLog.rolling.enabled", "false");
        conf_set(&conf, "spark.eventLog.dir", "file:/logs");
        assert_int_equal(event_log_read_conf(&o, &conf, &error), 0);
        assert_int_equal(o.file.codec, EVENT_CODEC_LZ4);
        assert_false(o.file.rolling);
        assert_string_equal(o.file.dir, "file:/logs");
        conf_set(&conf, "spark.eventLog.compress", "maybe");
        struct event_log_options before = o;
        assert_int_equal(event_log_read_conf(&o, &conf, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.eventLog.compress"));
        assert_memory_equal(&o, &before, sizeof(o));
        free((char *)o.file.dir);
        conf_deinit(&conf);
}

static int64_t count_lines(const struct buf *text)
{
        int64_t lines = 0;
        for (size_t i = 0; i < text->len; i++)
                lines += text->data[i] == '\n';
        return lines;
}

static void rolls_between_lines(void **state)
{
        struct event_log_options o = plain_options();
        o.file.rolling = true;
        o.file.max_file_size = 10 << 20;
        play_events(&o, 600, false);
        assert_int_equal(mode_of("eventlog_v2_" SCRIPTED_APPLICATION_ID), 0770);
        assert_true(log_exists("eventlog_v2_" SCRIPTED_APPLICATION_ID "/appstatus_" SCRIPTED_APPLICATION_ID));
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int64_t lines = 0;
        int files = 0;
        for (char name[128];; files++) {
                snprintf(name, sizeof(name), "eventlog_v2_%s/events_%d_%s", SCRIPTED_APPLICATION_ID, files + 1,
                         SCRIPTED_APPLICATION_ID);
                if (!log_exists(name))
                        break;
                read_file(name, &text);
                assert_in_range(text.len, 1, 10 << 20);
                assert_int_equal(text.data[0], '{');
                assert_int_equal(text.data[text.len - 1], '\n');
                lines += count_lines(&text);
        }
        assert_in_range(files, 3, 10);
        o.file.rolling = false;
        play_events(&o, 1, false);
        read_file(SCRIPTED_APPLICATION_ID, &text);
        assert_int_equal(lines, (count_lines(&text) - 1) * 600 + 1);

        struct event_log *log = NULL;
        o.file.rolling = true;
        assert_int_equal(event_log_open(&log, &o, NULL), -EEXIST);
        o.file.overwrite = true;
        assert_int_equal(event_log_open(&log, &o, NULL), 0);
        assert_true(
                log_exists("eventlog_v2_" SCRIPTED_APPLICATION_ID "/appstatus_" SCRIPTED_APPLICATION_ID ".inprogress"));
        assert_false(log_exists("eventlog_v2_" SCRIPTED_APPLICATION_ID "/events_2_" SCRIPTED_APPLICATION_ID));
        event_log_free(log);
}

static uint32_t le32(const char *p)
{
        const unsigned char *u = (const unsigned char *)p;
        return u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static void unpack_lz4(const struct buf *from, struct buf *to)
{
        size_t i = 0;
        for (;;) {
                assert_true(i + 21 <= from->len);
                assert_memory_equal(from->data + i, "LZ4Block", 8);
                int method = from->data[i + 8] & 0xf0;
                assert_int_equal(from->data[i + 8] & 0x0f, 5); /* 32 KiB */
                uint32_t stored = le32(from->data + i + 9), length = le32(from->data + i + 13);
                uint32_t checksum = le32(from->data + i + 17);
                i += 21;
                if (length == 0)
                        break;
                buf_reserve(to, length);
                if (method == 0x20)
                        assert_int_equal(
                                LZ4_decompress_safe(from->data + i, to->data + to->len, (int)stored, (int)length),
                                length);
                else
                        memcpy(to->data + to->len, from->data + i, length);
                assert_int_equal(XXH32(to->data + to->len, length, 0x9747b28c) & 0x0fffffff, checksum);
                to->len += length;
                i += stored;
        }
        assert_int_equal(i, from->len);
}

/* By the reader of event logs. */
static void unpack_java_blocks(const struct buf *from, struct buf *to, size_t size)
{
        struct java_blocks *b;
        assert_int_equal(java_blocks_new(JAVA_BLOCKS_SNAPPY, &b, NULL), 0);
        buf_reserve(to, size);
        for (size_t at = 0, in, got = 1; at < from->len || got; at += in, to->len += got) {
                in = from->len - at;
                assert_null(java_blocks_step(b, (const unsigned char *)from->data + at, &in, to->data + to->len,
                                             size - to->len, &got));
                if (!in && !got)
                        break;
        }
        assert_true(java_blocks_between(b));
        java_blocks_free(b);
}

static void compressed_logs_decompress_to_the_same_text(void **state)
{
        struct event_log_options o = plain_options();
        _cleanup_(buf_deinit) struct buf plain = BUF_INIT, packed = BUF_INIT, unpacked = BUF_INIT;
        play_events(&o, 20, false);
        read_file(SCRIPTED_APPLICATION_ID, &plain);

        o.file.codec = EVENT_CODEC_ZSTD;
        play_events(&o, 20, false);
        read_file(SCRIPTED_APPLICATION_ID ".zstd", &packed);
        assert_in_range(packed.len, 1, plain.len / 10);
        buf_reserve(&unpacked, plain.len + 1);
        ZSTD_DCtx *context = ZSTD_createDCtx();
        ZSTD_inBuffer in = {packed.data, packed.len, 0};
        ZSTD_outBuffer out = {unpacked.data, plain.len + 1, 0};
        assert_int_equal(ZSTD_decompressStream(context, &out, &in), 0); /* one whole frame */
        ZSTD_freeDCtx(context);
        assert_int_equal(out.pos, plain.len);
        assert_memory_equal(unpacked.data, plain.data, plain.len);

        o.file.codec = EVENT_CODEC_LZ4;
        play_events(&o, 20, false);
        read_file(SCRIPTED_APPLICATION_ID ".lz4", &packed);
        assert_in_range(packed.len, 1, plain.len / 4);
        buf_reset(&unpacked);
        unpack_lz4(&packed, &unpacked);
        assert_int_equal(unpacked.len, plain.len);
        assert_memory_equal(unpacked.data, plain.data, plain.len);

        o.file.codec = EVENT_CODEC_SNAPPY;
        play_events(&o, 20, false);
        read_file(SCRIPTED_APPLICATION_ID ".snappy", &packed);
        assert_in_range(packed.len, 1, plain.len / 3);
        assert_memory_equal(packed.data, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
        buf_reset(&unpacked);
        unpack_java_blocks(&packed, &unpacked, plain.len + 1);
        assert_int_equal(unpacked.len, plain.len);
        assert_memory_equal(unpacked.data, plain.data, plain.len);
}

static void flushed_events_are_readable_in_progress(void **state)
{
        struct event_log_options o = plain_options();
        o.file.codec = EVENT_CODEC_ZSTD;
        struct event_log *log = NULL;
        assert_int_equal(event_log_open(&log, &o, NULL), 0);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, event_log_listener(log));
        listener_bus_start(bus);
        scripted_application_play(bus);
        _cleanup_(buf_deinit) struct buf packed = BUF_INIT;
        static char unpacked[1 << 20];
        bool found = false;
        for (int i = 0; i < 6000 && !found; i++) {
                usleep(10000);
                read_file(SCRIPTED_APPLICATION_ID ".zstd.inprogress", &packed);
                ZSTD_DCtx *context = ZSTD_createDCtx();
                ZSTD_inBuffer in = {packed.data, packed.len, 0};
                ZSTD_outBuffer out = {unpacked, sizeof(unpacked) - 1, 0};
                while (in.pos < in.size)
                        assert_false(ZSTD_isError(ZSTD_decompressStream(context, &out, &in)));
                unpacked[out.pos] = 0;
                found = strstr(unpacked, "SparkListenerApplicationEnd") != NULL;
                ZSTD_freeDCtx(context);
        }
        assert_true(found);
        listener_bus_free(bus);
        event_log_free(log);
}

static size_t count_lines_with(const char *text, const char *part)
{
        size_t n = 0;
        for (const char *at = text; (at = strstr(at, part)); at++)
                n++;
        return n;
}

/* The nodes of executors: each heartbeat at first, then fewer. A heartbeat that is late or has no counters is left out.
 */
static void writes_fewer_and_fewer_heartbeats_of_a_node(void **state)
{
        enum { BEATS = 10000 };
        struct event_log_options o = plain_options();
        struct event_log *log = NULL;
        assert_int_equal(event_log_open(&log, &o, NULL), 0);
        struct listener *l = event_log_listener(log);
        for (int i = 1; i <= BEATS; i++)
                for (int k = 0; k < 3; k++) {
                        struct executor_metrics_update e = {.executor_id = k == 0   ? "1"
                                                                           : k == 1 ? "2"
                                                                                    : "none",
                                                            .node = {.ms = k == 2 ? 0 : i, .cpu_all_ms = i}};
                        l->on_executor_metrics_update(l, &e);
                        e.node.ms -= 1;
                        l->on_executor_metrics_update(l, &e);
                        if (i == BEATS / 2 && k == 1) /* another executor of the same name begins again */
                                l->on_executor_removed(l, &(struct executor_removed){.id = "2", .reason = "gone"});
                }
        event_log_free(log);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        read_file(SCRIPTED_APPLICATION_ID, &text);
        const char *lines = buf_text(&text);
        assert_in_range(count_lines_with(lines, "firesteel.NodeMetrics\",\"Executor ID\":\"1\""), 250, 310);
        assert_in_range(count_lines_with(lines, "firesteel.NodeMetrics\",\"Executor ID\":\"2\""), 440, 560);
        assert_int_equal(count_lines_with(lines, "\"none\""), 0);
        assert_non_null(strstr(lines, "\"Timestamp\":62,\"Heartbeats\":1,"));
        assert_null(strstr(lines, "\"Timestamp\":63,"));
        assert_non_null(strstr(lines, "\"Timestamp\":64,\"Heartbeats\":2,"));
}

static void full_disk_ends_only_the_log(void **state)
{
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit old, small;
        getrlimit(RLIMIT_FSIZE, &old);
        small = old;
        small.rlim_cur = 64 << 10; /* write(2) fails with EFBIG beyond this */
        setrlimit(RLIMIT_FSIZE, &small);
        struct event_log_options o = plain_options();
        play_events(&o, 50, true);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_true(log_exists(SCRIPTED_APPLICATION_ID ".inprogress"));
        assert_false(log_exists(SCRIPTED_APPLICATION_ID));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_make, temp_dir_remove)
        const struct CMUnitTest tests[] = {
                TEST(writes_the_fields_of_spark),
                TEST(writes_values_into_their_fields),
                cmocka_unit_test(writes_any_bytes_as_valid_json),
                TEST(renames_single_file_at_the_end),
                TEST(rejects_invalid_directories),
                cmocka_unit_test(reads_configuration),
                TEST(rolls_between_lines),
                TEST(compressed_logs_decompress_to_the_same_text),
                TEST(flushed_events_are_readable_in_progress),
                TEST(writes_fewer_and_fewer_heartbeats_of_a_node),
                TEST(full_disk_ends_only_the_log),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
