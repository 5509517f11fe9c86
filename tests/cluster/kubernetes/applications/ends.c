/* Ends with the status that it is told, before it is anything to Spark.   ends STATUS */
#include <firesteel/firesteel.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
        return argc > 1 ? atoi(argv[1]) : 0;
}
