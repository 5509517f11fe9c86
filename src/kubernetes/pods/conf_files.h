/*
 * Configuration files in config maps: the files of SPARK_CONF_DIR and the driver's properties. Spark's
 * KubernetesClientUtils. File contents are JSON objects, {"log4j2.properties": "…"}.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"

#include <jansson.h>

struct fst_error;
struct kube_conf;

/* Appends the sorted names of the files in @folder, without directories. Appends none if it is not a directory. */
void folder_files(const char *folder, struct string_list *names);

/* Sets member @name of @data to the content of @path. Returns -errno with @error, -EILSEQ for invalid UTF-8. */
int file_content_put(json_t *data, const char *name, const char *path, size_t most, struct fst_error *error);

/*
 * Reads the files of SPARK_CONF_DIR, or of conf/ below spark.home, without archives, templates and Spark's own
 * settings. Takes the smallest first until spark.kubernetes.configMap.maxSize. Logs the skipped ones. @properties, if
 * given, are added as spark.properties. The caller owns *@out.
 */
int conf_files_read(const struct kube_conf *c, const struct strmap *properties, json_t **out, struct fst_error *error);

/* Builds the config map of these files. @labels may be NULL. The caller owns *@out. */
int conf_files_map(const struct kube_conf *c, const json_t *files, const struct strmap *labels, json_t **out,
                   struct fst_error *error);

/* Returns a volume @name of the config map. The caller owns it. */
json_t *conf_files_volume(const struct kube_conf *c, const char *name, const json_t *files);
