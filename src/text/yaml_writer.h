/* Writes JSON trees as YAML in block style, for files that people read and edit. */
#pragma once

#include "base/buf.h"

#include <jansson.h>

/*
 * Appends @json as one YAML document without "---". Texts that YAML might read as another type, or that are not plain
 * words, are quoted as in JSON. Texts of several lines become literal blocks where these keep them unchanged.
 */
void yaml_write(struct buf *out, const json_t *json);
