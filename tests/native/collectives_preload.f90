! A plain MPI program in Fortran, by mpif.h's names and by those of mpi_f08.
module by_f08
  use mpi_f08
  implicit none
contains
  subroutine sums(me, ranks, wrong)
    integer, intent(in) :: me, ranks
    integer, intent(inout) :: wrong
    integer :: own(5), sum(5), i
    own = [(me + i, i = 1, 5)]
    call MPI_Allreduce(own, sum, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (any(sum /= [(ranks * (ranks - 1) / 2 + ranks * i, i = 1, 5)])) wrong = wrong + 1
    call MPI_Allreduce(MPI_IN_PLACE, own, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (any(own /= sum)) wrong = wrong + 1
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine
end module

program plain
  use by_f08, only: sums
  implicit none
  include 'mpif.h'
  integer :: me, ranks, error, wrong, i, total
  integer, allocatable :: all(:), give(:)
  double precision :: message(100), sum(100)
  wrong = 0
  call MPI_INIT(error)
  call MPI_COMM_RANK(MPI_COMM_WORLD, me, error)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, error)
  message = -1
  if (me == 0) message = [(dble(i), i = 1, 100)]
  call MPI_BCAST(message, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  if (any(message /= [(dble(i), i = 1, 100)])) wrong = wrong + 1
  call MPI_REDUCE(message, sum, 100, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (me == 0 .and. any(sum /= ranks * message)) wrong = wrong + 1
  call MPI_ALLREDUCE(MPI_IN_PLACE, message, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (any(message /= [(dble(ranks * i), i = 1, 100)])) wrong = wrong + 1
  allocate (all(ranks), give(ranks))
  all = -1
  call MPI_ALLGATHER(me, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  if (any(all /= [(i, i = 0, ranks - 1)])) wrong = wrong + 1
  give = [(100 * me + i, i = 0, ranks - 1)]
  call MPI_ALLTOALL(give, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
  if (any(all /= [(100 * i + me, i = 0, ranks - 1)])) wrong = wrong + 1
  call MPI_REDUCE_SCATTER_BLOCK(give, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= 100 * (ranks * (ranks - 1) / 2) + ranks * me) wrong = wrong + 1
  call MPI_BARRIER(MPI_COMM_WORLD, error)
  call sums(me, ranks, wrong)
  message(1) = wrong
  call MPI_REDUCE(message, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (me == 0) print '(a,i0)', 'wrong ', nint(sum(1))
  call MPI_FINALIZE(error)
end program
