/*
 * A small XML document as a tree: POMs, ivy.xml, ivysettings.xml, maven-metadata.xml. The parser is expat's.
 *
 * What comes from a repository is untrusted: a document has at most XML_MAX_BYTES and XML_MAX_DEPTH, and its entities
 * make at most XML_MAX_TEXT of it; nothing outside of it is ever read; an entity that it does not define itself (POMs
 * use HTML's) is left out. Names are without their namespace's prefix, so that "m:x" and "x" are the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct fst_error;

#define XML_MAX_BYTES (8u << 20)
#define XML_MAX_TEXT (2 * XML_MAX_BYTES)
#define XML_MAX_DEPTH 100

struct xml_attribute {
        const char *name, *value;
        struct xml_attribute *next;
};

struct xml_node {
        const char *name;
        const char *text; /* its own, without that of its children; "" for none */
        struct xml_attribute *attributes;
        struct xml_node *children, *next;
};

/*
 * The document's root element, in @arena. -EINVAL with @error, which says what is wrong and in which line; -EFBIG.
 */
int xml_parse(struct arena *arena, const char *data, size_t len, struct xml_node **root, struct fst_error *error);

/* The first child called @name, or NULL; @node may be NULL. */
struct xml_node *xml_child(const struct xml_node *node, const char *name);

/* The text of the first child called @name, as it stands; NULL without one. */
const char *xml_child_text(const struct xml_node *node, const char *name);

/* An attribute's value or NULL. */
const char *xml_attribute(const struct xml_node *node, const char *name);

#define xml_each(child, node)                                                                                          \
        for (struct xml_node *child = (node) ? (node)->children : NULL; child; child = child->next)
