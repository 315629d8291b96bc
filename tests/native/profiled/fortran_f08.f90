! What tests/native/profiled/every.cpp does, through the module mpi_f08.
program main
  use mpi_f08
  implicit none
  integer :: rank, ranks, next, previous, level, ierror, k
  type(MPI_Request) :: request, requests(2)
  type(MPI_Comm) :: line
  type(MPI_Win) :: win
  include 'fortran_calls.inc'
end program
