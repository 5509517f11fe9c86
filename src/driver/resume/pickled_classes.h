/* The numbers of classes in pickled functions of Python. */
#pragma once

#include <stddef.h>

/*
 * A function of a Python program travels as a pickle, and with it each class of the program's main module that it uses.
 * The pickler gives such a class a random number, a UUID, so that a worker makes it once. Replaces these numbers in
 * @data by zeros: the same program then gives the same bytes in each of its runs. Other bytes stay, also UUIDs that the
 * function captures, because only the number of a class has the opcodes around it that create a class.
 *
 * Pure. Any bytes are allowed.
 */
void pickled_classes_mask(char *data, size_t size);
