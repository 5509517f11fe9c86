/*
 * LD_LIBRARY_PATH for programs of the application: Python, R, pipes. In a container of YARN it begins with this
 * program's own libraries (yarn/application/program_archive.h), which another program's libraries may not fit.
 */
#pragma once

/*
 * The value without the directory lib beside this program's bin; "" if nothing is left. The caller owns it. NULL: the
 * value of this process is right.
 */
char *library_path_of_programs(void);

/* The directories of @list, separated by ':', of which none is @folder, by whatever name. The caller owns it. For
 * tests.
 */
char *library_path_without(const char *list, const char *folder);
