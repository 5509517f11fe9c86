/* The program's main function. The library does the work. */
#include "cmd/command.h"

int main(int argc, char **argv)
{
        return firesteel_main(argc, argv);
}
