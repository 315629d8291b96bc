#include "peers.hpp"

#include <pthread.h>

#include <cstdlib>
#include <new>

namespace fl {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Group* groups[1024] = {};
MPI_Group world_group{};
int comm_key = 0, win_key = 0;

Group*& bucket(std::uint64_t handle) { return groups[((handle * 0x9E3779B97F4A7C15u) >> 54)]; }

Group* find(std::uint64_t handle) {
  Group* g = bucket(handle);
  while (g != nullptr && g->handle != handle) g = g->next;
  return g;
}

// The handle goes: another communicator may get its number.
void forget(std::uint64_t handle) {
  pthread_mutex_lock(&lock);
  for (Group** at = &bucket(handle); *at != nullptr; at = &(*at)->next) {
    if ((*at)->handle != handle) continue;
    Group* gone = *at;
    *at = gone->next;
    // What a program leaves behind is taken down inside MPI_Finalize, where no MPI call is allowed any more.
    if (!state.ended.load() && !gone->same) real.Group_free(&gone->group);
    std::free(gone->neighbour);
    std::free(gone);
    break;
  }
  state.generation.fetch_add(1, std::memory_order_relaxed);
  pthread_mutex_unlock(&lock);
}

int comm_gone(MPI_Comm comm, int, void*, void*) {
  forget(number(comm));
  return 0;
}

int win_gone(MPI_Win win, int, void*, void*) {
  forget(number(win));
  return 0;
}

int not_copied_comm(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return 0;
}

int not_copied_win(MPI_Win, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return 0;
}

int size_of(MPI_Group group) {
  int size = 0;
  real.Group_size(group, &size);
  return size;
}

Group& enter(std::uint64_t handle, Group* fresh) {
  // One group less to keep, and no call to translate: many communicators are duplicates of the whole.
  int result = -1;
  real.Group_compare(fresh->group, world_group, &result);
  fresh->same = result == MPI_IDENT;
  if (fresh->same) real.Group_free(&fresh->group);
  fresh->handle = handle;
  fresh->next = bucket(handle);
  bucket(handle) = fresh;
  return *fresh;
}

}  // namespace

MPI_Comm world() {
#ifdef OPEN_MPI
  return static_cast<MPI_Comm>(object("ompi_mpi_comm_world"));
#else
  return MPI_COMM_WORLD;
#endif
}

void prepare_groups() {
  real.Comm_rank(world(), &state.rank);
  real.Comm_size(world(), &state.size);
  real.Comm_group(world(), &world_group);
  real.Comm_create_keyval(not_copied_comm, comm_gone, &comm_key, nullptr);
  real.Win_create_keyval(not_copied_win, win_gone, &win_key, nullptr);
}

Group& group_of(MPI_Comm comm) {
  pthread_mutex_lock(&lock);
  Group* found = find(number(comm));
  if (found == nullptr) {
    Group* fresh = new (make(sizeof(Group))) Group;
    int inter = 0;
    real.Comm_test_inter(comm, &inter);
    fresh->inter = inter != 0;
    real.Comm_rank(comm, &fresh->rank);
    real.Comm_size(comm, &fresh->size);
    if (fresh->inter)
      real.Comm_remote_group(comm, &fresh->group);
    else
      real.Comm_group(comm, &fresh->group);
    fresh->peers = size_of(fresh->group);
    found = &enter(number(comm), fresh);
    real.Comm_set_attr(comm, comm_key, nullptr);
  }
  pthread_mutex_unlock(&lock);
  return *found;
}

Group& window_group(MPI_Win win) {
  pthread_mutex_lock(&lock);
  Group* found = find(number(win));
  if (found == nullptr) {
    Group* fresh = new (make(sizeof(Group))) Group;
    real.Win_get_group(win, &fresh->group);
    fresh->size = fresh->peers = size_of(fresh->group);
    found = &enter(number(win), fresh);
    real.Win_set_attr(win, win_key, nullptr);
  }
  pthread_mutex_unlock(&lock);
  return *found;
}

int translated(Group& group, int rank) {
  if (group.same) return rank;
  int there = MPI_UNDEFINED;
  real.Group_translate_ranks(group.group, 1, &rank, world_group, &there);
  return there == MPI_UNDEFINED ? unknown_peer : there;
}

int neighbours_of(Group& group, MPI_Comm comm) {
  if (const int known = group.neighbours.load(std::memory_order_acquire); known >= 0) return known;
  pthread_mutex_lock(&lock);
  int count = group.neighbours.load(std::memory_order_relaxed);
  if (count < 0) {
    int kind = MPI_UNDEFINED;
    count = 0;
    int* list = nullptr;
    real.Topo_test(comm, &kind);
    if (kind == MPI_CART) {
      int dimensions = 0;
      real.Cartdim_get(comm, &dimensions);
      count = 2 * dimensions;
      list = static_cast<int*>(make(sizeof(int) * static_cast<std::size_t>(count + 1)));
      for (int d = 0; d < dimensions; ++d) real.Cart_shift(comm, d, 1, &list[2 * d], &list[2 * d + 1]);
    } else if (kind == MPI_GRAPH) {
      real.Graph_neighbors_count(comm, group.rank, &count);
      list = static_cast<int*>(make(sizeof(int) * static_cast<std::size_t>(count + 1)));
      real.Graph_neighbors(comm, group.rank, count, list);
    } else if (kind == MPI_DIST_GRAPH) {
      int in = 0, weighted = 0;
      real.Dist_graph_neighbors_count(comm, &in, &count, &weighted);
      list = static_cast<int*>(make(sizeof(int) * static_cast<std::size_t>(count + 1)));
      int* scratch = static_cast<int*>(make(sizeof(int) * static_cast<std::size_t>(2 * in + count + 1)));
      real.Dist_graph_neighbors(comm, in, scratch, scratch + in, count, list, scratch + 2 * in);
      std::free(scratch);
    }
    group.neighbour = list;
    group.neighbours.store(count, std::memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return count;
}

}  // namespace fl
