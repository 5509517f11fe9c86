/* Fuzz targets of objects in YAML: each document of the input is passed on. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Passes each document of @data to @object. Input that is not YAML is fine. */
static inline void fuzz_yaml_objects(const uint8_t *data, size_t size, void (*object)(const json_t *object))
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *documents = NULL, *document;
        size_t i;
        if (yaml_parse_all((const char *)data, size, &documents, &error) < 0)
                return;
        json_array_foreach(documents, i, document)
                object(document);
        json_decref(documents);
}
