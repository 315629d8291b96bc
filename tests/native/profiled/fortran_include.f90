! What tests/native/profiled/every.cpp does, through mpif.h.
program main
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, next, previous, level, ierror, k
  integer :: request, requests(2), line, win
  include 'fortran_calls.inc'
end program
