#include "firstlight/collectives/executor.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <new>

#include "plan.hpp"

namespace fl::collectives {

namespace {

constexpr std::int64_t small_bytes = 8192;       // received where it is awaited; measured: saves 5 to 15 % of an exchange of 8 bytes
constexpr std::int64_t persistent_bytes = 4096;  // measured: below, persistent requests cost more than others (twice, with Open MPI 4)

struct Message {
  void* address(const std::array<char*, 4>& bases) const { return bases[static_cast<std::size_t>(where)] + offset; }
  Where where = Where::data;
  bool sends = false, large = false, own_type = false;
  MPI_Aint offset = 0;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  Rank peer = 0;
  int tag = 0;
};

}  // namespace

struct Execution::Parts {
  Plan plan;
  Chain chain;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_OP_NULL;
  MPI_Aint size = 1;  // of an element
  bool apart = false;
  std::int64_t count = 0;
  std::int64_t before = 0;            // bytes of the data that are before the input's first element
  std::vector<Message> messages;      // one an item; unused for additions and copies
  std::vector<MPI_Request> requests;  // likewise; those that are awaited at the end follow each other in `order`
  std::vector<std::uint32_t> slot;    // of an item in `requests`
  std::unique_ptr<char[]> scratch, temporary;
  std::array<char*, 4> bases{};
  bool persistent = false;

  // The ready list.
  std::vector<std::uint32_t> offset, to;  // the dependents of item i: to[offset[i] .. offset[i + 1]), at first those of its start
  std::vector<std::uint32_t> starts;      // how many of them wait for the start only
  std::vector<std::uint32_t> initial, missing, ready, active;
  std::vector<MPI_Request> pending;
  std::vector<int> indices;

  ~Parts() {
    release_requests();
    release_types();
  }

  void describe(const Item& item);
  void make_type(Message& m, std::span<const Piece> pieces) const;
  void list();
  void bind(void* data, const void* input);
  void make_requests();
  void release_requests();
  void release_types();

  int begin(std::uint32_t item, MPI_Request* request);
  int local(const Item& item) const;
  int run_chain();
  int run_ready();
  void advance(std::uint32_t item, bool started);
};

// --- once --------------------------------------------------------------------------------------------------------------

void Execution::Parts::make_type(Message& m, std::span<const Piece> pieces) const {
  std::vector<int> lengths;
  std::vector<MPI_Aint> places;
  for (const Piece& p : pieces)
    for (std::int64_t done = 0; done < p.length;) {
      const std::int64_t length = std::min<std::int64_t>(p.length - done, INT_MAX);
      lengths.push_back(static_cast<int>(length));
      places.push_back((p.offset - pieces[0].offset + done) * size);
      done += length;
    }
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), type, &m.type);
  MPI_Type_commit(&m.type);
  m.count = 1;
  m.own_type = true;
}

void Execution::Parts::describe(const Item& item) {
  Message m{.sends = item.act == Act::send, .type = type, .peer = item.peer};
  if (item.act == Act::send || item.act == Act::receive) {
    constexpr int tags = 32767;  // what every MPI library has at least; more messages between two ranks keep their order
    const std::span<const Piece> pieces = plan.of(item.place);
    m.tag = item.tag % tags;
    m.where = item.place.where;
    m.large = item.elements * size >= persistent_bytes;
    m.offset = pieces.empty() ? 0 : pieces[0].offset * size;
    m.count = static_cast<int>(item.elements);
    if (pieces.size() > 1 || item.elements > INT_MAX) make_type(m, pieces);
  }
  messages.push_back(m);
}

// The dependents of every item, those of its start first.
void Execution::Parts::list() {
  const std::size_t n = plan.items.size();
  offset.assign(n + 1, 0);
  starts.assign(n, 0);
  initial.assign(n, 0);
  to.resize(plan.edges.size());
  for (const Edge& e : plan.edges) {
    ++offset[e.from + 1];
    if (e.started) ++starts[e.from];
    ++initial[e.to];
  }
  for (std::size_t i = 0; i < n; ++i) offset[i + 1] += offset[i];
  std::vector<std::uint32_t> at_start(offset.begin(), offset.end() - 1), at_end(n);
  for (std::size_t i = 0; i < n; ++i) at_end[i] = offset[i] + starts[i];
  for (const Edge& e : plan.edges) to[e.started ? at_start[e.from]++ : at_end[e.from]++] = e.to;
  missing.resize(n);
  ready.resize(n);
  active.reserve(n);
  pending.reserve(n);
  indices.resize(n);
}

Execution::Execution(const Schedule& schedule, const Channel& channel, const Elements& elements, bool apart)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  if (schedule.ranks != channel.ranks()) throw Refused("the schedule is for another number of ranks");
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(elements.type, &low, &extent);
  p.comm = channel.comm();
  p.type = elements.type;
  p.op = elements.op;
  p.size = extent;
  p.apart = apart;
  p.count = elements.count;
  if (apart && schedule.collective == Collective::allgather) p.before = elements.count / schedule.ranks * channel.rank() * extent;
  p.plan = unroll(schedule, channel.rank(), elements.count, apart);
  p.chain = chain(p.plan, small_bytes / std::max<MPI_Aint>(extent, 1));
  for (const Item& item : p.plan.items) p.describe(item);
  const std::size_t n = p.plan.items.size();
  p.requests.assign(n, MPI_REQUEST_NULL);
  p.slot.resize(n);
  // What is awaited at the end is together at the front.
  std::uint32_t next = 0;
  std::vector<bool> placed(n, false);
  for (const std::uint32_t i : p.chain.last) {
    p.slot[i] = next++;
    placed[i] = true;
  }
  for (std::uint32_t i = 0; i < n; ++i)
    if (!placed[i]) p.slot[i] = next++;
  if (!p.chain.possible) p.list();
  p.scratch.reset(new char[static_cast<std::size_t>(p.plan.scratch * extent)]);
  p.temporary.reset(new char[static_cast<std::size_t>(p.plan.temporary * extent)]);
}

Execution::~Execution() = default;
Execution::Execution(Execution&&) noexcept = default;

Execution::Numbers Execution::numbers() const {
  Numbers made{.items = static_cast<std::int64_t>(parts_->plan.items.size()), .chain = parts_->chain.possible};
  for (const Item& item : parts_->plan.items) made.messages += item.act == Act::send || item.act == Act::receive;
  made.bytes = (parts_->plan.scratch + parts_->plan.temporary) * parts_->size;
  return made;
}

void Execution::Parts::make_requests() {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    const Act act = plan.items[i].act;
    if (!m.large || (act != Act::send && act != Act::receive)) continue;
    (m.sends ? MPI_Send_init : [](const void* a, int b, MPI_Datatype c, int d, int e, MPI_Comm f, MPI_Request* g) {
      return MPI_Recv_init(const_cast<void*>(a), b, c, d, e, f, g);
    })(m.address(bases), m.count, m.type, m.peer, m.tag, comm, &requests[slot[i]]);
  }
  persistent = true;
}

void Execution::Parts::release_requests() {
  if (!persistent) return;
  for (MPI_Request& r : requests)
    if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  persistent = false;
}

void Execution::Parts::release_types() {
  for (Message& m : messages)
    if (m.own_type) MPI_Type_free(&m.type);
}

void Execution::Parts::bind(void* data, const void* input) {
  const std::array<char*, 4> now{static_cast<char*>(data), static_cast<char*>(const_cast<void*>(input)), scratch.get(), temporary.get()};
  if (now != bases) {
    release_requests();
    bases = now;
  } else if (!persistent) {
    make_requests();
  }
}

inline int Execution::Parts::begin(std::uint32_t item, MPI_Request* request) {
  const Message& m = messages[item];
  if (persistent && m.large) return MPI_Start(request);
  return m.sends ? MPI_Isend(m.address(bases), m.count, m.type, m.peer, m.tag, comm, request)
                 : MPI_Irecv(m.address(bases), m.count, m.type, m.peer, m.tag, comm, request);
}

// --- a run -------------------------------------------------------------------------------------------------------------

int Execution::Parts::local(const Item& item) const {
  const std::span<const Piece> into = plan.of(item.place), from = plan.of(item.source);
  char* const target = bases[static_cast<std::size_t>(item.place.where)];
  const char* const source = bases[static_cast<std::size_t>(item.source.where)];
  std::size_t f = 0;
  std::int64_t used = 0;  // of from[f]
  for (const Piece& piece : into)
    for (std::int64_t done = 0; done < piece.length;) {
      const std::int64_t length = std::min({piece.length - done, from[f].length - used, std::int64_t{INT_MAX}});
      char* const to = target + (piece.offset + done) * size;
      const char* const of = source + (from[f].offset + used) * size;
      if (item.act == Act::reduce) {
        const int status = MPI_Reduce_local(of, to, static_cast<int>(length), type, op);
        if (status != MPI_SUCCESS) return status;
      } else {
        std::memmove(to, of, static_cast<std::size_t>(length * size));
      }
      done += length;
      used += length;
      if (used == from[f].length) {
        ++f;
        used = 0;
      }
    }
  return MPI_SUCCESS;
}

int Execution::Parts::run_chain() {
  for (const Step& s : chain.steps) {
    const Message& m = messages[s.item];
    int status = MPI_SUCCESS;
    switch (s.what) {
      case Step::Do::post:
      case Step::Do::start:
        status = begin(s.item, &requests[slot[s.item]]);
        break;
      case Step::Do::wait:
        status = MPI_Wait(&requests[slot[s.item]], MPI_STATUS_IGNORE);
        break;
      case Step::Do::receive:
        status = MPI_Recv(m.address(bases), m.count, m.type, m.peer, m.tag, comm, MPI_STATUS_IGNORE);
        break;
      case Step::Do::send:
        status = MPI_Send(m.address(bases), m.count, m.type, m.peer, m.tag, comm);
        break;
      case Step::Do::reduce:
      case Step::Do::copy:
        status = local(plan.items[s.item]);
        break;
    }
    if (status != MPI_SUCCESS) return status;
  }
  if (chain.last.empty()) return MPI_SUCCESS;
  if (chain.last.size() == 1) return MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  return MPI_Waitall(static_cast<int>(chain.last.size()), requests.data(), MPI_STATUSES_IGNORE);
}

inline void Execution::Parts::advance(std::uint32_t item, bool started) {
  const std::uint32_t middle = offset[item] + starts[item];
  for (std::uint32_t k = started ? offset[item] : middle, end = started ? middle : offset[item + 1]; k < end; ++k)
    if (--missing[to[k]] == 0) ready.push_back(to[k]);
}

// Requests travel between `requests`, where persistent ones live, and `pending`, which MPI_Waitsome looks at.
int Execution::Parts::run_ready() {
  const auto n = static_cast<std::uint32_t>(plan.items.size());
  std::copy(initial.begin(), initial.end(), missing.begin());
  ready.clear();
  active.clear();
  pending.clear();
  for (const bool receives : {true, false})  // receives first
    for (std::uint32_t i = 0; i < n; ++i)
      if (initial[i] == 0 && (plan.items[i].act == Act::receive) == receives) ready.push_back(i);
  std::uint32_t done = 0;
  for (std::size_t next = 0; done < n;) {
    for (; next < ready.size(); ++next) {
      const std::uint32_t i = ready[next];
      const Item& item = plan.items[i];
      int status = MPI_SUCCESS;
      if (item.act == Act::send || item.act == Act::receive) {
        MPI_Request request = requests[slot[i]];
        status = begin(i, &request);
        pending.push_back(request);
        active.push_back(i);
        advance(i, true);
      } else {
        status = local(item);
        advance(i, true);
        advance(i, false);
        ++done;
      }
      if (status != MPI_SUCCESS) return status;
    }
    if (done == n) break;
    int finished = 0;
    const int status = MPI_Waitsome(static_cast<int>(pending.size()), pending.data(), &finished, indices.data(), MPI_STATUSES_IGNORE);
    if (status != MPI_SUCCESS) return status;
    if (finished == MPI_UNDEFINED) return MPI_ERR_INTERN;
    std::sort(indices.begin(), indices.begin() + finished);
    for (int k = 0; k < finished; ++k) advance(active[static_cast<std::size_t>(indices[static_cast<std::size_t>(k)])], false);
    for (int k = finished - 1; k >= 0; --k) {
      const auto at = static_cast<std::size_t>(indices[static_cast<std::size_t>(k)]);
      active[at] = active.back();
      pending[at] = pending.back();
      active.pop_back();
      pending.pop_back();
    }
    done += static_cast<std::uint32_t>(finished);
  }
  return MPI_SUCCESS;
}

int Execution::run(void* data, const void* input) {
  Parts& p = *parts_;
  const auto bytes = static_cast<std::size_t>(p.size);
  // As a number: of the input of an allgather only one block exists.
  p.bind(data, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(input) - static_cast<std::uintptr_t>(p.before)));
  for (const Piece& piece : p.plan.left)
    std::memcpy(p.bases[0] + piece.offset * p.size, p.bases[1] + piece.offset * p.size, static_cast<std::size_t>(piece.length) * bytes);
  return p.chain.possible ? p.run_chain() : p.run_ready();
}

}  // namespace fl::collectives
