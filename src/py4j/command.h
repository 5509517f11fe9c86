/*
 * Commands of the Py4J protocol, as Python sends them: a line with a letter, lines with names, lines with values
 * (value.h), and a line "e". Pure.
 */
#pragma once

#include "base/vec.h"
#include "py4j/value.h"

struct fst_error;

/* The most values of a command, of which genuine programs send some dozen. */
#define PY4J_MAX_PARTS 65536

struct py4j_command {
        char letter;
        const char *words[3]; /* names and ids, in the text of the command; "" where the command has fewer */
        VEC(struct py4j_value) parts;
};

/* Finds the end of a command in a growing text. Zero it for each command. */
struct py4j_scanner {
        size_t line, at; /* the start of the present line, and where to search for its end */
        unsigned lines;  /* complete lines */
        unsigned words;  /* lines after the first that are names */
};

/*
 * Returns the length of the command at the start of @text, once its @len bytes contain all of it; 0 before. Call it
 * again with a longer text, of which it reads only what is new.
 */
size_t py4j_scan(struct py4j_scanner *scanner, const char *text, size_t len);

/*
 * Parses a whole command of @len bytes. @text is changed, and @out points into it. Returns 0, or negative with @error.
 * The caller calls py4j_command_deinit in either case.
 */
int py4j_command_parse(char *text, size_t len, struct py4j_command *out, struct fst_error *error);
void py4j_command_deinit(struct py4j_command *command);
