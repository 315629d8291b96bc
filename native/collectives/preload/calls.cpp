#include "calls.hpp"

#include <array>
#include <cstring>

#include "schedules.hpp"

namespace fl::preload {

namespace {

struct Shape {
  bool plain = false;  // a predefined type without gaps
  std::int64_t size = 0;
  MPI_Aint extent = 0;
};

Shape shape_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0, size = 0;
  MPI_Aint low = 0, extent = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &low, &extent);
  return {combiner == MPI_COMBINER_NAMED && extent == size && low == 0, size, extent};
}

bool predefined(MPI_Op op) {
  for (const MPI_Op one : {MPI_SUM, MPI_MAX, MPI_MIN, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR})
    if (op == one) return true;
  return false;
}

// Data that is moved and not looked at: in words where it consists of them.
Request moving(Collective collective, std::int64_t bytes, int root = 0) {
  const bool words = bytes % 8 == 0;
  return {collective, words ? MPI_INT64_T : MPI_BYTE, MPI_OP_NULL, words ? bytes / 8 : bytes, bytes, root, false};
}

// The execution for a sum; null where the library is to do it.
collectives::Execution* summing(Collective collective, Schedules& schedules, int count, MPI_Datatype type, MPI_Op op, int root,
                                bool apart) {
  if (!predefined(op)) return nullptr;
  const Shape shape = shape_of(type);
  if (!shape.plain) return nullptr;
  return schedules.find({collective, type, op, count, count * shape.size, root, apart});
}

int pack(const void* from, int count, MPI_Datatype type, char* to, std::int64_t bytes, MPI_Comm comm) {
  int position = 0;
  const int status = PMPI_Pack(from, count, type, to, static_cast<int>(bytes), &position, comm);
  return status != MPI_SUCCESS ? status : position == bytes ? MPI_SUCCESS : MPI_ERR_INTERN;
}

int unpack(const char* from, std::int64_t bytes, void* to, int count, MPI_Datatype type, MPI_Comm comm) {
  int position = 0;
  return PMPI_Unpack(from, static_cast<int>(bytes), &position, to, count, type, comm);
}

// A call that cannot be right is the library's to reject.
bool wrong(int count, MPI_Datatype type, MPI_Comm comm) { return comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL || count < 0; }

constexpr std::int64_t packable = 1 << 30;  // bytes; MPI_Pack counts in int

bool fits(int root, const Schedules& s) { return root >= 0 && root < s.channel().ranks(); }

int library(Collective collective, int status) {
  if (!Inside::inside) count(collective, false);
  return status;
}

int done(Collective collective, int status) {
  count(collective, true);
  return status;
}

}  // namespace

int bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  Schedules* const s = wrong(count, type, comm) ? nullptr : schedules_of(comm);
  if (s != nullptr && fits(root, *s)) {
    const Shape shape = shape_of(type);
    const std::int64_t bytes = count * shape.size;
    // Types may differ between the ranks, bytes may not: what cannot be packed is known to all.
    collectives::Execution* const e = bytes > packable ? nullptr : s->find(moving(Collective::broadcast, bytes, root));
    if (e != nullptr) {
      if (shape.plain) return done(Collective::broadcast, e->run(buffer));
      char* const room = s->room(bytes);
      const bool gives = s->channel().rank() == root;
      int status = gives ? pack(buffer, count, type, room, bytes, comm) : MPI_SUCCESS;
      if (status == MPI_SUCCESS) status = e->run(room);
      if (status == MPI_SUCCESS && !gives) status = unpack(room, bytes, buffer, count, type, comm);
      return done(Collective::broadcast, status);
    }
  }
  return library(Collective::broadcast, PMPI_Bcast(buffer, count, type, root, comm));
}

int reduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  Schedules* const s = wrong(count, type, comm) ? nullptr : schedules_of(comm);
  if (s != nullptr && fits(root, *s)) {
    const bool sums = s->channel().rank() == root, apart = give != MPI_IN_PLACE;
    if (auto* const e = summing(Collective::reduce, *s, count, type, op, root, apart)) {
      void* const data = sums ? get : s->room(count * shape_of(type).size);
      return done(Collective::reduce, e->run(data, apart ? give : nullptr));
    }
  }
  return library(Collective::reduce, PMPI_Reduce(give, get, count, type, op, root, comm));
}

int allreduce(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Schedules* const s = wrong(count, type, comm) ? nullptr : schedules_of(comm);
  if (s != nullptr) {
    const bool apart = give != MPI_IN_PLACE;
    if (auto* const e = summing(Collective::allreduce, *s, count, type, op, 0, apart))
      return done(Collective::allreduce, e->run(get, apart ? give : nullptr));
  }
  return library(Collective::allreduce, PMPI_Allreduce(give, get, count, type, op, comm));
}

int reduce_scatter_block(const void* give, void* get, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  Schedules* const s = wrong(count, type, comm) ? nullptr : schedules_of(comm);
  if (s != nullptr) {
    if (auto* const e = summing(Collective::reduce_scatter, *s, count, type, op, 0, true)) {
      const std::int64_t block = count * shape_of(type).size;
      char* const room = s->room(block * s->channel().ranks());
      const int status = e->run(room, give == MPI_IN_PLACE ? get : give);
      std::memcpy(get, room + block * s->channel().rank(), static_cast<std::size_t>(block));
      return done(Collective::reduce_scatter, status);
    }
  }
  return library(Collective::reduce_scatter, PMPI_Reduce_scatter_block(give, get, count, type, op, comm));
}

namespace {

// The blocks of all ranks, as they are in a user's buffer or packed.
struct Blocks {
  char* at;
  int count;
  MPI_Datatype type;
  Shape shape;
  char* block(int r) const { return at + static_cast<MPI_Aint>(r) * count * shape.extent; }
};

int run_allgather(Schedules& s, collectives::Execution& e, const void* give, int count, MPI_Datatype type, const Blocks& to,
                  std::int64_t bytes, MPI_Comm comm) {
  const int me = s.channel().rank(), ranks = s.channel().ranks();
  char* const data = to.shape.plain ? to.at : s.room(bytes * ranks);
  int status = MPI_SUCCESS;
  if (give != MPI_IN_PLACE)
    status = shape_of(type).plain ? (std::memcpy(data + bytes * me, give, static_cast<std::size_t>(bytes)), MPI_SUCCESS)
                                  : pack(give, count, type, data + bytes * me, bytes, comm);
  else if (!to.shape.plain)
    status = pack(to.block(me), to.count, to.type, data + bytes * me, bytes, comm);
  if (status == MPI_SUCCESS) status = e.run(data);
  if (!to.shape.plain)
    for (int r = 0; r < ranks && status == MPI_SUCCESS; ++r)
      if (r != me || give != MPI_IN_PLACE) status = unpack(data + bytes * r, bytes, to.block(r), to.count, to.type, comm);
  return status;
}

int run_alltoall(Schedules& s, collectives::Execution& e, const Blocks& from, const Blocks& to, std::int64_t bytes, MPI_Comm comm) {
  const int ranks = s.channel().ranks();
  const bool in_place = from.at == to.at;
  const std::int64_t all = bytes * ranks;
  const bool moved = in_place || !from.shape.plain;
  char* const room = s.room((moved ? all : 0) + (to.shape.plain ? 0 : all));
  char* const input = moved ? room : from.at;
  char* const data = to.shape.plain ? to.at : room + (moved ? all : 0);
  int status = MPI_SUCCESS;
  if (moved && from.shape.plain)
    std::memcpy(input, from.at, static_cast<std::size_t>(all));
  else if (moved)
    for (int r = 0; r < ranks && status == MPI_SUCCESS; ++r)
      status = pack(from.block(r), from.count, from.type, input + bytes * r, bytes, comm);
  if (status == MPI_SUCCESS) status = e.run(data, input);
  if (!to.shape.plain)
    for (int r = 0; r < ranks && status == MPI_SUCCESS; ++r) status = unpack(data + bytes * r, bytes, to.block(r), to.count, to.type, comm);
  return status;
}

}  // namespace

int allgather(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type, MPI_Comm comm) {
  const bool bad = wrong(get_count, get_type, comm) || (give != MPI_IN_PLACE && wrong(count, type, comm));
  Schedules* const s = bad ? nullptr : schedules_of(comm);
  if (s != nullptr) {
    const Blocks to{static_cast<char*>(get), get_count, get_type, shape_of(get_type)};
    const std::int64_t bytes = get_count * to.shape.size;
    Request request = moving(Collective::allgather, bytes);
    request.apart = give != MPI_IN_PLACE && to.shape.plain && shape_of(type).plain;
    collectives::Execution* const e = bytes > packable ? nullptr : s->find(request);
    if (e != nullptr && request.apart) return done(Collective::allgather, e->run(get, give));
    if (e != nullptr) return done(Collective::allgather, run_allgather(*s, *e, give, count, type, to, bytes, comm));
  }
  return library(Collective::allgather, PMPI_Allgather(give, count, type, get, get_count, get_type, comm));
}

int alltoall(const void* give, int count, MPI_Datatype type, void* get, int get_count, MPI_Datatype get_type, MPI_Comm comm) {
  const bool bad = wrong(get_count, get_type, comm) || (give != MPI_IN_PLACE && wrong(count, type, comm));
  Schedules* const s = bad ? nullptr : schedules_of(comm);
  if (s != nullptr) {
    const Blocks to{static_cast<char*>(get), get_count, get_type, shape_of(get_type)};
    const Blocks from = give == MPI_IN_PLACE ? to : Blocks{static_cast<char*>(const_cast<void*>(give)), count, type, shape_of(type)};
    const std::int64_t bytes = get_count * to.shape.size;
    collectives::Execution* const e = bytes > packable ? nullptr : s->find(moving(Collective::alltoall, bytes));
    if (e != nullptr) return done(Collective::alltoall, run_alltoall(*s, *e, from, to, bytes, comm));
  }
  return library(Collective::alltoall, PMPI_Alltoall(give, count, type, get, get_count, get_type, comm));
}

int barrier(MPI_Comm comm) {
  if (Schedules* const s = schedules_of(comm); s != nullptr)
    if (auto* const e = s->find(Request{.collective = Collective::barrier})) return done(Collective::barrier, e->run(nullptr));
  return library(Collective::barrier, PMPI_Barrier(comm));
}

}  // namespace fl::preload
