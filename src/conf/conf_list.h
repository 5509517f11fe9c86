/* Lists in the configuration: elements separated by commas. */
#pragma once

struct fst_conf;
struct fst_error;
struct string_list;

/* Appends the elements of @text (NULL: none) to @out, without blanks around them and without empty ones. */
void conf_list_split(const char *text, struct string_list *out);

/* The same with the value of @key. Returns 0, or -EINVAL with @error. */
int conf_list_read(const struct fst_conf *conf, const char *key, struct string_list *out, struct fst_error *error);
