! Blocking messages from Fortran, through the module mpi_f08.
subroutine pingpong_send(message, bytes, to) bind(c)
  use, intrinsic :: iso_c_binding, only: c_int, c_int8_t
  use mpi_f08, only: mpi_send, MPI_BYTE, MPI_COMM_WORLD
  implicit none
  integer(c_int), value :: bytes, to
  integer(c_int8_t), intent(in) :: message(bytes)

  call mpi_send(message, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD)
end subroutine

subroutine pingpong_receive(message, bytes, from) bind(c)
  use, intrinsic :: iso_c_binding, only: c_int, c_int8_t
  use mpi_f08, only: mpi_recv, MPI_BYTE, MPI_COMM_WORLD, MPI_STATUS_IGNORE
  implicit none
  integer(c_int), value :: bytes, from
  integer(c_int8_t) :: message(bytes)

  call mpi_recv(message, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
end subroutine
