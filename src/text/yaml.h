/*
 * YAML, as trees of JSON: kubeconfig files, pod templates.
 *
 *      json_t *tree;
 *      r = yaml_parse(text, len, &tree, error);
 *
 * Plain scalars have the types of YAML's JSON schema, as Spark's client reads them: null (and nothing at all), true,
 * false, numbers as JSON writes them. All else is text: "yes", "True", "~", 010, 0x1F, dates. What is quoted is text;
 * the tags !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are obeyed, others refused. JSON is YAML and is read
 * as well. Keys become texts; a key that comes twice in a mapping is refused. Anchors are copied where they are named,
 * and `<<` merges them, which Spark's client leaves alone and kubectl does.
 *
 * Documents are strangers' work: their length, nesting and the nodes that they make (copies of anchors count) are
 * limited.
 *
 * libyaml finds the tokens; it lies in a module, libfiresteel-yaml.so, that the first document loads.
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
 * The one document in @text; an empty one is null. The caller owns *@out. -EINVAL with @error ("line 3: …") for what is
 * no YAML or has several documents, -EFBIG beyond a limit; -ENOENT, -ELIBBAD when the module is not there. Any thread.
 */
int yaml_parse(const char *text, size_t len, json_t **out, struct fst_error *error);

/* All documents, as an array; those that are empty (after a "---" at the end) are left out. */
int yaml_parse_all(const char *text, size_t len, json_t **out, struct fst_error *error);

/*
 * @value as block YAML for people, two spaces a level, keys in their order; what some reader could take for something
 * else than text is quoted. Ends with a line break; the caller owns it. Needs no module.
 */
char *yaml_write(const json_t *value);
