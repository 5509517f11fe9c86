/* The program. All of its work is in the library. */
#include "cmd/command.h"

int main(int argc, char **argv)
{
        return firesteel_main(argc, argv);
}
