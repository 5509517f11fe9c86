/* Names of files in the directory of a container: Spark's, and the archive of Firesteel. */
#pragma once

#define YARN_APP_JAR "__app__.jar"
#define YARN_CONF_LINK "__spark_conf__"
#define YARN_LIBS_LINK "__spark_libs__"
#define YARN_PROGRAM_LINK "__firesteel__"
#define YARN_PYTHON_LINK "__pyfiles__"

/* In the directory YARN_CONF_LINK. */
#define YARN_HADOOP_CONF "__hadoop_conf__"
#define YARN_CONF_FILE "__spark_conf__.properties"
#define YARN_CACHE_FILE "__spark_dist_cache__.properties"
