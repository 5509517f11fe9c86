/*
 * Reads YAML (kubeconfig files, pod templates) into JSON trees.
 *
 *      json_t *tree;
 *      r = yaml_parse(text, len, &tree, error);
 *
 * Plain scalars have the types of YAML's JSON schema, as in Spark's client: null (also an empty value), true, false,
 * and numbers in JSON's syntax. Everything else is a text: "yes", "True", "~", 010, 0x1F, dates. Quoted scalars are
 * texts. The tags !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are obeyed, others rejected. JSON is valid
 * YAML. Keys become texts. A duplicate key in a mapping is rejected. Aliases copy their anchor's value, and `<<` merges
 * it, as in kubectl but unlike Spark's client.
 *
 * Documents are untrusted: their length, nesting and number of nodes (with the copies of anchors) are limited.
 *
 * libyaml tokenizes. The first document loads it with the module libfiresteel-yaml.so.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

struct fst_error;

#define YAML_MAX_BYTES (4u << 20)
#define YAML_MAX_DEPTH 64
#define YAML_MAX_NODES 200000
#define YAML_MAX_ANCHORS 1000

/*
 * Parses the only document in @text. An empty one is null. The caller owns *@out. Returns 0, -EINVAL with @error ("line
 * 3: …") for invalid YAML or several documents, -EFBIG beyond a limit, or -ENOENT or -ELIBBAD if the module is missing.
 * Any thread.
 */
int yaml_parse(const char *text, size_t len, json_t **out, struct fst_error *error);

/* Parses all documents into an array. Skips empty ones (after a "---" at the end). */
int yaml_parse_all(const char *text, size_t len, json_t **out, struct fst_error *error);
