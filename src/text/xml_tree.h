/*
 * Parses a small XML document into a tree: POMs, ivy.xml, ivysettings.xml, maven-metadata.xml. The parser is expat.
 *
 * Documents from a repository are untrusted. A document has at most XML_MAX_BYTES and XML_MAX_DEPTH, and its entities
 * expand to at most XML_MAX_TEXT. The parser reads nothing outside the document and drops entities that the document
 * does not define (POMs use HTML's). Names lose their namespace prefix, so that "m:x" equals "x".
 */
#pragma once

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
        const char *text; /* its own text, without that of its children, or "" */
        struct xml_attribute *attributes;
        struct xml_node *children, *next;
};

/*
 * Returns the root element, allocated in @arena. On failure returns -EINVAL with the problem and its line in @error, or
 * -EFBIG.
 */
int xml_parse(struct arena *arena, const char *data, size_t len, struct xml_node **root, struct fst_error *error);

/* Returns the first child called @name, or NULL. @node may be NULL. */
struct xml_node *xml_child(const struct xml_node *node, const char *name);

/* Returns the text of the first child called @name, not trimmed, or NULL if there is no such child. */
const char *xml_child_text(const struct xml_node *node, const char *name);

/* Returns the value of an attribute or NULL. */
const char *xml_attribute(const struct xml_node *node, const char *name);

#define xml_each(child, node)                                                                                          \
        for (struct xml_node *child = (node) ? (node)->children : NULL; child; child = child->next)
