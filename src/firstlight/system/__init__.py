"""The machine, its processes, its site file, its MPI families, its launchers and its batch system."""
