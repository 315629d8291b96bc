// Computes in one thread, whatever the size of the team.
#include "serial.cpp"
