/* Shared by the files that read a POM: pom.c, pom_properties.c (expands properties), pom_profiles.c (active profiles).
 */
#pragma once

#include "ivy/pom.h"

#include "text/xml_tree.h"

#define POM_JAVA_VERSION "17"

struct managed {
        struct module_name *module;
        const struct xml_node *element; /* evaluated with the caller's properties; NULL: imported */
        const char *version, *scope;    /* of an imported one */
        const struct xml_node *exclusions;
        struct managed *next;
};

struct pom_reader {
        struct names *names;
        const struct pom_source *source;
        struct pom *pom;
        const char *parent_group, *parent_version; /* NULL until known */
        const char *group, *artifact, *version;
        bool named; /* the project.* properties are set */
        int put_in; /* expansions in the current text */
        struct fst_error *error;
};

/* pom_properties.c */

/* Returns the value of a property of the system or of the environment, or NULL. */
const char *pom_system_property(struct pom_reader *r, const char *name);
/* Returns the value of a property, or NULL. */
const char *pom_property(struct pom_reader *r, const char *name);
/* Returns @text without blanks around it, in the arena. */
const char *pom_trimmed(struct names *n, const char *text);
/* The text with its properties expanded, trimmed. NULL stays NULL. */
int pom_value_of(struct pom_reader *r, const char *text, const char **out);
/* The same for the text of a child element. */
int pom_child_value(struct pom_reader *r, const struct xml_node *node, const char *name, const char **out);
/* The child of @first, else that of @second. */
int pom_either_value(struct pom_reader *r, const struct xml_node *first, const struct xml_node *second,
                     const char *name, const char **out);

/* pom_profiles.c */

/* Returns true for "true" in any case. NULL is false. */
bool pom_is_true(const char *text);
/* Returns true if the profile is active: by default, by a property, the system, a JDK, or a file. */
bool pom_profile_is_active(struct pom_reader *r, const struct xml_node *profile);
