/*
 * Configuration files that travel in config maps: those of SPARK_CONF_DIR, and the driver's properties among them.
 * Spark's KubernetesClientUtils. Files' contents are trees of JSON, {"log4j2.properties": "…"}.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"

#include <jansson.h>

struct fst_error;
struct kube_conf;

/* Append the names of the files in @folder, without directories, sorted; none if it is no folder. */
void folder_files(const char *folder, struct string_list *names);

/* Set member @name of @data to what the file at @path holds. -errno with @error, -EILSEQ if that is not UTF-8. */
int file_content_put(json_t *data, const char *name, const char *path, size_t most, struct fst_error *error);

/*
 * The files of SPARK_CONF_DIR, or of conf/ below spark.home, that may travel: no archives, templates, or Spark's own
 * settings, the smallest first until spark.kubernetes.configMap.maxSize is reached. What is left out is told. With
 * @properties, those as spark.properties too. The caller owns *@out.
 */
int conf_files_read(const struct kube_conf *c, const struct strmap *properties, json_t **out, struct fst_error *error);

/* The config map of these files; @labels may be NULL. The caller owns *@out. */
int conf_files_map(const struct kube_conf *c, const json_t *files, const struct strmap *labels, json_t **out,
                   struct fst_error *error);

/* The volume @name that shows it. The caller owns it. */
json_t *conf_files_volume(const struct kube_conf *c, const char *name, const json_t *files);
