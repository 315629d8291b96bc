"""Build the recorder of MPI traffic, and run a command with it: a library that is preloaded into any MPI program."""
