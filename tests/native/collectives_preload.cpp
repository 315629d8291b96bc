// A plain MPI program without schedules: uses collectives in every way that MPI allows and checks the results.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

int me = 0, ranks = 1, wrong = 0;

void expect(bool right, const char* what, int n) {
  if (right) return;
  ++wrong;
  std::printf("rank %d: %s of %d is wrong\n", me, what, n);
}

using Numbers = std::vector<int>;

Numbers from(int rank, int n) {
  Numbers made(static_cast<std::size_t>(n));
  std::iota(made.begin(), made.end(), 1000 * rank);
  return made;
}

Numbers sums(int n, int first = 0) {
  Numbers made(static_cast<std::size_t>(n), 0);
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < n; ++i) made[static_cast<std::size_t>(i)] += 1000 * r + first + i;
  return made;
}

Numbers blocks(int n, bool exchanged) {
  Numbers made;
  for (int r = 0; r < ranks; ++r) {
    const Numbers all = from(r, exchanged ? n * ranks : n);
    made.insert(made.end(), all.begin() + (exchanged ? n * me : 0), all.begin() + (exchanged ? n * me : 0) + n);
  }
  return made;
}

void plain(int n, MPI_Comm comm) {
  for (int root = 0; root < std::min(ranks, 2); ++root) {
    Numbers data = me == root ? from(7, n) : Numbers(static_cast<std::size_t>(n), -1);
    MPI_Bcast(data.data(), n, MPI_INT, root, comm);
    expect(data == from(7, n), "broadcast", n);
    Numbers sum(static_cast<std::size_t>(n), -1);
    MPI_Reduce(from(me, n).data(), sum.data(), n, MPI_INT, MPI_SUM, root, comm);
    expect(me != root || sum == sums(n), "reduce", n);
    if (root != 0) continue;  // MPICH 4.0.2 itself crashes where another root reduces in place
    Numbers own = from(me, n);
    MPI_Reduce(me == root ? MPI_IN_PLACE : own.data(), me == root ? own.data() : nullptr, n, MPI_INT, MPI_SUM, root, comm);
    expect(me != root || own == sums(n), "reduce in place", n);
  }
  Numbers sum(static_cast<std::size_t>(n), -1), own = from(me, n);
  MPI_Allreduce(own.data(), sum.data(), n, MPI_INT, MPI_SUM, comm);
  expect(sum == sums(n) && own == from(me, n), "allreduce", n);
  MPI_Allreduce(MPI_IN_PLACE, own.data(), n, MPI_INT, MPI_SUM, comm);
  expect(own == sums(n), "allreduce in place", n);

  Numbers all(static_cast<std::size_t>(n * ranks), -1);
  own = from(me, n);
  MPI_Allgather(own.data(), n, MPI_INT, all.data(), n, MPI_INT, comm);
  expect(all == blocks(n, false), "allgather", n);
  std::fill(all.begin(), all.end(), -1);
  std::copy(own.begin(), own.end(), all.begin() + n * me);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), n, MPI_INT, comm);
  expect(all == blocks(n, false), "allgather in place", n);

  Numbers give = from(me, n * ranks);
  MPI_Alltoall(give.data(), n, MPI_INT, all.data(), n, MPI_INT, comm);
  expect(all == blocks(n, true), "alltoall", n);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, give.data(), n, MPI_INT, comm);
  expect(give == blocks(n, true), "alltoall in place", n);

  give = from(me, n * ranks);
  Numbers mine(static_cast<std::size_t>(n), -1);
  MPI_Reduce_scatter_block(give.data(), mine.data(), n, MPI_INT, MPI_SUM, comm);
  expect(mine == sums(n, n * me) && give == from(me, n * ranks), "reduce_scatter_block", n);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, give.data(), n, MPI_INT, MPI_SUM, comm);
  give.resize(static_cast<std::size_t>(n));
  expect(give == sums(n, n * me), "reduce_scatter_block in place", n);
  MPI_Barrier(comm);
}

// One rank sees every other number of an array, the others see them side by side: the bytes are the same.
void with_gaps(int n) {
  MPI_Datatype gaps, resized;
  MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
  MPI_Type_create_resized(gaps, 0, 2 * n * static_cast<MPI_Aint>(sizeof(int)), &resized);
  MPI_Type_commit(&resized);
  Numbers data(static_cast<std::size_t>(2 * n), -1);
  if (me == 0) data = from(3, 2 * n);
  MPI_Bcast(data.data(), me == 0 ? 1 : n, me == 0 ? resized : MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < n && me != 0; ++i) expect(data[static_cast<std::size_t>(i)] == 3000 + 2 * i, "broadcast with gaps", n);
  MPI_Bcast(data.data(), me == 0 ? n : 1, me == 0 ? MPI_INT : resized, 0, MPI_COMM_WORLD);

  Numbers own = from(me, 2 * n), all(static_cast<std::size_t>(2 * n * ranks), -1);
  MPI_Allgather(own.data(), 1, resized, all.data(), 1, resized, MPI_COMM_WORLD);
  bool right = true;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < 2 * n; ++i) right = right && all[static_cast<std::size_t>(2 * n * r + i)] == (i % 2 == 0 ? 1000 * r + i : -1);
  expect(right, "allgather with gaps", n);

  Numbers give = from(me, n * ranks);
  std::fill(all.begin(), all.end(), -1);
  MPI_Alltoall(give.data(), n, MPI_INT, all.data(), 1, resized, MPI_COMM_WORLD);
  right = true;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < n; ++i)
      right = right && all[static_cast<std::size_t>(2 * (n * r + i))] == 1000 * r + n * me + i &&
              all[static_cast<std::size_t>(2 * (n * r + i) + 1)] == -1;
  expect(right, "alltoall with gaps", n);
  MPI_Type_free(&gaps);
  MPI_Type_free(&resized);
}

void second(void* give, void* get, int* n, MPI_Datatype*) { std::copy_n(static_cast<int*>(give), *n, static_cast<int*>(get)); }

// These calls stay with the library: a user's operation, pairs with an index, a communicator between groups.
void left_to_the_library() {
  MPI_Op first;
  MPI_Op_create(second, 0, &first);
  int own = me, result = -1;
  MPI_Allreduce(&own, &result, 1, MPI_INT, first, MPI_COMM_WORLD);
  expect(result == 0, "allreduce by an operation that is not commutative", 1);
  MPI_Op_free(&first);
  struct {
    double value;
    int index;
  } mine{-1.0 * me, me}, least{};
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  expect(least.index == ranks - 1, "allreduce of pairs", 1);
  if (ranks < 2) return;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, me % 2 == 0 ? 1 : 0, 5, &between);
  int there = -1, here = me;
  MPI_Allreduce(&here, &there, 1, MPI_INT, MPI_MAX, between);
  expect(there % 2 != me % 2, "allreduce between groups", 1);
  MPI_Barrier(between);
  MPI_Comm_free(&between);
  int most = -1;
  MPI_Allreduce(&here, &most, 1, MPI_INT, MPI_MAX, half);
  expect(most % 2 == me % 2, "allreduce of a half", 1);
  MPI_Comm_free(&half);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int again = 0; again < 2; ++again)
    for (int n = 0; n < 45; ++n) plain(n, MPI_COMM_WORLD);  // more than the library keeps schedules for
  plain(3000, MPI_COMM_WORLD);
  for (const int n : {1, 4, 777}) with_gaps(n);
  left_to_the_library();
  for (int k = 0; k < 20; ++k) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    plain(5 + k, copy);
    MPI_Comm_free(&copy);
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) std::printf("wrong %d\n", all);
  MPI_Finalize();
  return 0;
}
