/* Holds the observer of the program; program_observer.h has its duties. */
#include "program_observer.h"

const struct program_observer *program_observer;
