! What tests/native/profiled/every.cpp does, through mpif.h.
program main
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, next, previous, level, ierror, k
  integer :: request, requests(2), line, win
  double precision :: a(64), b(64)
  integer :: counts(2), places(2)

  call MPI_Init(ierror)
  call MPI_Pcontrol(0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  level = 1
  a = 1

  call say("MPI_Send", ranks, 16 * ranks, "next", 1, 16)
  call MPI_Irecv(b, 2, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, request, ierror)
  call MPI_Send(a, 2, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)

  call say("MPI_Sendrecv", ranks, 24 * ranks, "next", 1, 24)
  call MPI_Sendrecv(a, 3, MPI_DOUBLE_PRECISION, next, 0, b, 3, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)

  call say("MPI_Send_init", 2 * ranks, 2 * 32 * ranks, "next", 2, 64)
  call MPI_Send_init(a, 4, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Recv_init(b, 4, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, requests(2), ierror)
  do k = 1, 2
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  call say("MPI_Bcast", ranks, 40, "none", 0, 0)
  call MPI_Bcast(b, 5, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierror)

  call say("MPI_Allreduce", ranks, 48 * ranks, "none", 0, 0)
  call MPI_Allreduce(MPI_IN_PLACE, b, 6, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)

  ! In place, the count of what is sent means nothing.
  call say("MPI_Allgather", ranks, 8 * ranks, "none", 0, 0)
  call MPI_Allgather(MPI_IN_PLACE, 7, MPI_DOUBLE_PRECISION, b, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)

  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., line, ierror)
  counts = 3
  places = [0, 3]
  call say("MPI_Neighbor_alltoallv", ranks, 48 * ranks, "both", 1, 24)
  call MPI_Neighbor_alltoallv(a, counts, places, MPI_DOUBLE_PRECISION, b, counts, places, MPI_DOUBLE_PRECISION, line, ierror)
  call MPI_Comm_free(line, ierror)

  ! Backwards, in a communicator that counts the ranks the other way round.
  call MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, line, ierror)
  call say("MPI_Sendrecv", ranks, 8 * ranks, "back", 1, 8)
  call MPI_Sendrecv(a, 1, MPI_DOUBLE_PRECISION, mod(ranks - 1 - previous, ranks), 0, b, 1, MPI_DOUBLE_PRECISION, &
                    mod(ranks - 1 - next, ranks), 0, line, MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_free(line, ierror)

  call MPI_Win_create(b, 512_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call say("MPI_Put", ranks, 64 * ranks, "next", 1, 64)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(a, 8, MPI_DOUBLE_PRECISION, next, 0_MPI_ADDRESS_KIND, 8, MPI_DOUBLE_PRECISION, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_free(win, ierror)

  call MPI_Pcontrol(0)
  call MPI_Finalize(ierror)

contains

  subroutine say(call, calls, bytes, to, messages, each)
    character(len=*), intent(in) :: call, to
    integer, intent(in) :: calls, bytes, messages, each
    call MPI_Pcontrol(0)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    level = level + 1
    call MPI_Pcontrol(level)
    if (rank == 0) print '(i0, 1x, a, 1x, i0, 1x, i0, 1x, a, 1x, i0, 1x, i0)', level, call, calls, bytes, to, messages, each
  end subroutine

end program
