/* Levels of the log by the names of log4j, which programs read and set:
 * LogManager.getRootLogger().setLevel(Level.WARN). */
#include "pyspark_driver/classes.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"

struct log4j_level {
        struct py4j_object object;
        enum log_level level;
};

static const char *const log4j_names[] = {
        [LOG_OFF] = "OFF",   [LOG_FATAL] = "FATAL", [LOG_ERROR] = "ERROR", [LOG_WARN] = "WARN",
        [LOG_INFO] = "INFO", [LOG_DEBUG] = "DEBUG", [LOG_TRACE] = "TRACE"};

static const char *log4j_level_name(const struct py4j_object *object)
{
        return log4j_names[((const struct log4j_level *)object)->level];
}

static void log4j_level_print(const struct py4j_object *object, struct buf *out)
{
        buf_puts(out, log4j_level_name(object));
}

static struct py4j_object *log4j_level_new(enum log_level level)
{
        struct log4j_level *object = new0(struct log4j_level);
        py4j_object_init(&object->object, &log4j_level_class);
        object->level = level;
        return &object->object;
}

static void log4j_level_field(struct py4j_call *call)
{
        enum log_level level;
        if (log_level_parse(call->member->name, &level, NULL) == 0)
                call->result = py4j_object_value(log4j_level_new(level));
}

static const struct py4j_member log4j_level_members[] = {
        {"OFF", "", log4j_level_field, PY4J_STATIC_FIELD},   {"FATAL", "", log4j_level_field, PY4J_STATIC_FIELD},
        {"ERROR", "", log4j_level_field, PY4J_STATIC_FIELD}, {"WARN", "", log4j_level_field, PY4J_STATIC_FIELD},
        {"INFO", "", log4j_level_field, PY4J_STATIC_FIELD},  {"DEBUG", "", log4j_level_field, PY4J_STATIC_FIELD},
        {"TRACE", "", log4j_level_field, PY4J_STATIC_FIELD}, {"ALL", "", log4j_level_field, PY4J_STATIC_FIELD},
};

const struct py4j_class log4j_level_class = {
        .name = "org.apache.log4j.Level", PY4J_MEMBERS(log4j_level_members), .print = log4j_level_print};

/* The level of all components, whichever logger a program names. */
static void logger_get_level(struct py4j_call *call)
{
        call->result = py4j_object_value(log4j_level_new(__atomic_load_n(&log_threshold, __ATOMIC_RELAXED)));
}

static void logger_set_level(struct py4j_call *call)
{
        struct py4j_object *level = py4j_argument(call, 0, &log4j_level_class);
        if (level)
                log_set_level(((const struct log4j_level *)level)->level);
}

static void logger_write(struct py4j_call *call)
{
        static const struct {
                const char *name;
                enum log_level level;
        } methods[] = {{"error", LOG_ERROR}, {"warn", LOG_WARN}, {"info", LOG_INFO}, {"debug", LOG_DEBUG}};
        for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
                if (strcmp(methods[i].name, call->member->name) == 0)
                        log_at(methods[i].level, "Python", "%s", call->args[0].text);
}

static const struct py4j_member logger_members[] = {
        {"getLevel", "", logger_get_level},  {"getEffectiveLevel", "", logger_get_level},
        {"setLevel", "r", logger_set_level}, {"error", "s", logger_write},
        {"warn", "s", logger_write},         {"info", "s", logger_write},
        {"debug", "s", logger_write},
};

static const struct py4j_class logger_class = {.name = "org.apache.log4j.Logger", PY4J_MEMBERS(logger_members)};

static void log_manager_get_logger(struct py4j_call *call)
{
        struct py4j_object *logger = new0(struct py4j_object);
        py4j_object_init(logger, &logger_class);
        call->result = py4j_object_value(logger);
}

static const struct py4j_member log_manager_members[] = {
        {"getRootLogger", "", log_manager_get_logger, PY4J_STATIC_METHOD},
        {"getLogger", "s", log_manager_get_logger, PY4J_STATIC_METHOD},
};

const struct py4j_class log_manager_class = {.name = "org.apache.log4j.LogManager", PY4J_MEMBERS(log_manager_members)};
