"""Build the recorder of MPI traffic: a library that is preloaded into any MPI program."""
