/* The words of `firesteel operator` that print objects and need no cluster. argv[0] is the word. */
#pragma once

int operator_crds(int argc, char **argv);
int operator_render(int argc, char **argv);
