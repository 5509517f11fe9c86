/*
 * scripted_log DIR [single|rolling] [none|zstd|lz4]: write the event log of the scripted application into DIR, for
 * genuine Spark's history server to read (tests/spark/check_spark_history).
 */
#include "driver/events/event_log.h"
#include "driver/events/scripted_application.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>

int main(int argc, char **argv)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct event_log_options options = event_log_defaults();
        if (argc != 4) {
                fprintf(stderr, "usage: scripted_log DIR single|rolling none|zstd|lz4\n");
                return 2;
        }
        options.file.dir = argv[1];
        options.file.app_id = SCRIPTED_APPLICATION_ID;
        options.file.rolling = strcmp(argv[2], "rolling") == 0;
        options.block_updates = true;
        options.file.codec = EVENT_CODEC_NONE;
        struct event_log *log;
        if ((strcmp(argv[3], "none") != 0 && event_codec_parse(argv[3], &options.file.codec, &error) < 0) ||
            event_log_open(&log, &options, &error) < 0) {
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, event_log_listener(log));
        listener_bus_start(bus);
        scripted_application_play(bus);
        listener_bus_free(bus);
        puts(event_log_path(log));
        event_log_free(log);
        return 0;
}
