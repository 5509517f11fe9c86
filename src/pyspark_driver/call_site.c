/* Call sites; see call_site.h. The lines were read from the event logs of each release. */
#include "pyspark_driver/call_site.h"

#include "base/mem.h"

#include <string.h>

/* A file with " at " is the whole place but the line: see rdd_site_text. The operation is the scope. */
static const fst_site places[] = {
        [SPARK_PYTHON_RDD] = {"RDD", "PythonRDD.scala", 0},
        [SPARK_READ_FILE] = {"parallelize", "readRDDFromFile at PythonRDD.scala", 0},
        [SPARK_READ_STREAM] = {"parallelize", "readRDDFromInputStream at PythonRDD.scala", 0},
        [SPARK_VALUE_OF_PAIR] = {"mapPartitions", "PythonRDD.scala", 0},
        [SPARK_RUN_JOB] = {"runJob", "PythonRDD.scala", 0},
        [SPARK_PYTHON_TO_JAVA] = {"mapPartitions", "SerDeUtil.scala", 0},
        [SPARK_SAVE] = {"runJob", "runJob at SparkHadoopWriter.scala", 0},
};

/* By enum spark_line; the newest release first. */
static const struct release_lines {
        char version[4];
        short lines[ARRAY_SIZE(places)];
} releases[] = {
        {"4.2", {59, 326, 333, 197, 218, 119, 85}}, /* 4.3, too */
        {"4.1", {59, 300, 307, 171, 192, 119, 85}},
        {"4.0", {57, 298, 305, 169, 190, 119, 85}},
        {"3.5", {53, 289, 296, 160, 181, 117, 83}},
};

fst_site call_site_in_spark(enum spark_line line, const char *version)
{
        const struct release_lines *release = releases;
        for (size_t i = 0; version && i < ARRAY_SIZE(releases); i++)
                if (strncmp(version, releases[i].version, strlen(releases[i].version)) == 0)
                        release = &releases[i];
        fst_site site = places[line];
        site.line = release->lines[line];
        return site;
}

fst_site call_site_of_save(const char *operation, const char *version)
{
        fst_site site = call_site_in_spark(SPARK_SAVE, version);
        site.operation = operation;
        return site;
}

fst_site call_site(const char *operation)
{
        return (fst_site){operation, "NativeMethodAccessorImpl.java", 0};
}
