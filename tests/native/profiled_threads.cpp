// Two threads send on communicators that are new to the profiler, as MPI_THREAD_MULTIPLE allows. MPI itself is played by the functions
// here, so that a sanitizer sees nothing but the profiler. Prints how many messages and bytes both have reported.
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "record.hpp"

namespace fl {
MPI_Comm world();
}

namespace {

constexpr int rounds = 200, size = 4, dimensions = 2;

template <class Handle>
Handle handle(std::uint64_t number) {
  return (Handle)(number);  // NOLINT: an int in one library, a pointer in another
}

bool is_world(MPI_Comm comm) { return comm == fl::world(); }

// Each rank is its own translation, but not in the group of the whole: so translation is asked for.
void play() {
  fl::real.Comm_rank = [](MPI_Comm, int* rank) { return *rank = 0, 0; };
  fl::real.Comm_size = [](MPI_Comm, int* found) { return *found = size, 0; };
  fl::real.Comm_test_inter = [](MPI_Comm, int* inter) { return *inter = 0, 0; };
  fl::real.Comm_group = [](MPI_Comm comm, MPI_Group* group) { return *group = handle<MPI_Group>(is_world(comm) ? 1 : 2), 0; };
  fl::real.Group_size = [](MPI_Group, int* found) { return *found = size, 0; };
  fl::real.Group_compare = [](MPI_Group a, MPI_Group b, int* result) { return *result = a == b ? MPI_IDENT : MPI_UNEQUAL, 0; };
  fl::real.Group_free = [](MPI_Group*) { return 0; };
  fl::real.Comm_create_keyval = [](MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int* key, void*) { return *key = 1, 0; };
  fl::real.Win_create_keyval = [](MPI_Win_copy_attr_function*, MPI_Win_delete_attr_function*, int* key, void*) { return *key = 2, 0; };
  fl::real.Comm_set_attr = [](MPI_Comm, int, void*) { return 0; };
  fl::real.Group_translate_ranks = [](MPI_Group, int count, const int* from, MPI_Group, int* to) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(int));
    return 0;
  };
  fl::real.Type_size_x = [](MPI_Datatype, MPI_Count* bytes) { return *bytes = 8, 0; };
  fl::real.Topo_test = [](MPI_Comm, int* kind) { return *kind = MPI_CART, 0; };
  fl::real.Cartdim_get = [](MPI_Comm, int* count) { return *count = dimensions, 0; };
  fl::real.Cart_shift = [](MPI_Comm, int axis, int, int* before, int* after) { return *before = axis, *after = axis + 1, 0; };
}

// At one time, but in no order: what is not ordered by the profiler is not ordered at all.
void meet() {
  static std::atomic<int> arrived{0};
  const int all = (arrived.fetch_add(1, std::memory_order_relaxed) / 2 + 1) * 2;
  while (arrived.load(std::memory_order_relaxed) < all) sched_yield();
}

void send_in(MPI_Comm comm, MPI_Request request) {
  meet();
  {
    fl::Call call(fl::Kind::Send);
    if (call.done(0)) fl::send(call, 2, MPI_DOUBLE, 1, comm);
  }
  meet();
  {
    fl::Call call(fl::Kind::Neighbor_allgather);
    if (call.done(0)) fl::neighbours(call, 3, MPI_DOUBLE, comm);
  }
  {
    fl::Call call(fl::Kind::Neighbor_alltoall_init);
    if (call.done_without_count(0)) fl::neighbours_init(call, 1, MPI_DOUBLE, comm, request);
  }
  fl::Call call(fl::Kind::Start);
  if (call.done(0)) fl::start(call, request);
}

}  // namespace

int main() {
  play();
  fl::state.attached = true;
  fl::prepare_groups();
  fl::enter_phase(1);
  const auto work = [&](std::uint64_t thread) {
    for (std::uint64_t k = 0; k < rounds; ++k)
      send_in(handle<MPI_Comm>(0x100000 + 16 * k), handle<MPI_Request>(0x200000 + 32 * k + 16 * thread));
  };
  std::thread one(work, 0), other(work, 1);
  one.join();
  other.join();
  unsigned long long messages = 0, bytes = 0;
  for (fl::Thread* t = fl::threads(); t != nullptr; t = t->next)
    for (const fl::Chunk* c = &t->tables[0].load()->first; c != nullptr; c = c->next.load())
      for (int i = 0; i < c->used.load(); ++i) {
        messages += c->pairs[i].messages.load();
        bytes += c->pairs[i].bytes.load();
      }
  std::printf("%llu %llu\n", messages, bytes);
  return 0;
}
