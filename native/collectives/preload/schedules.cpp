#include "schedules.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fl::preload {

thread_local bool Inside::inside = false;

namespace {

std::once_flag read_once;
std::vector<Rule> rules;
std::uint64_t fingerprint = 0;  // of the table; 0: there is none
int key = MPI_KEYVAL_INVALID, end_key = MPI_KEYVAL_INVALID;
std::mutex registry;  // of all communicators
std::vector<Schedules*> all;
std::array<std::array<std::atomic<std::uint64_t>, 2>, 8> counts{};

bool first_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

void print_note(const std::string& what) {
  if (first_rank()) std::fprintf(stderr, "firstlight collectives: %s\n", what.c_str());
}

void report() {
  const char* verbose = std::getenv("FIRSTLIGHT_COLLECTIVES_VERBOSE");
  if (verbose == nullptr || *verbose == '\0' || *verbose == '0' || !first_rank()) return;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (const std::uint64_t library = counts[c][0], ours = counts[c][1]; library + ours > 0)
      std::fprintf(stderr, "firstlight collectives: %s: %llu by a schedule, %llu by the library\n",
                   collectives::word(static_cast<Collective>(c)), static_cast<unsigned long long>(ours),
                   static_cast<unsigned long long>(library));
}

int communicator_ends(MPI_Comm, int, void* value, void*) {
  auto* const one = static_cast<Schedules*>(value);
  {
    const std::lock_guard guard(registry);
    if (std::erase(all, one) == 0) return MPI_SUCCESS;  // none, or gone with the program
  }
  const Inside inside;
  delete one;
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else: the last moment at which requests can be freed.
int program_ends(MPI_Comm, int, void*, void*) {
  report();
  std::vector<Schedules*> left;
  {
    const std::lock_guard guard(registry);
    left.swap(all);
  }
  const Inside inside;
  for (Schedules* one : left) delete one;
  return MPI_SUCCESS;
}

void read_table() {
  const Inside inside;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, communicator_ends, &key, nullptr);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, program_ends, &end_key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, end_key, nullptr);
  const char* const name = std::getenv("FIRSTLIGHT_COLLECTIVES");
  if (name == nullptr || *name == '\0') return;
  std::ifstream file(name);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    print_note(std::string(name) + ": cannot be read; using the library's own collectives");
    return;
  }
  try {
    rules = parse(text);
  } catch (const BrokenTable& wrong) {
    print_note(std::string(name) + ": " + wrong.what() + "; using the library's own collectives");
    return;
  }
  fingerprint = std::hash<std::string>()(text) | 1;
}

// Whether every rank of the communicator has read the same table. Collective.
bool agreed(MPI_Comm comm) {
  const std::uint64_t mine[2] = {fingerprint, ~fingerprint};
  std::uint64_t least[2] = {};
  PMPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, comm);
  if (least[0] == fingerprint && least[1] == ~fingerprint) return fingerprint != 0;
  static std::once_flag once;
  std::call_once(once, [] { print_note("not all ranks read the same table; using the library's own collectives"); });
  return false;
}

Schedules* make_for(MPI_Comm comm) {
  const Inside inside;
  int between = 0;
  PMPI_Comm_test_inter(comm, &between);
  Schedules* made = nullptr;
  if (between == 0 && agreed(comm)) {
    int ranks = 1;
    PMPI_Comm_size(comm, &ranks);
    if (std::ranges::any_of(rules, [&](const Rule& r) { return r.algorithm != nullptr && r.ranks.has(ranks); })) {
      made = new Schedules(comm);
      const std::lock_guard guard(registry);
      all.push_back(made);
    }
  }
  PMPI_Comm_set_attr(comm, key, made);
  return made;
}

const Rule* rule_for(const Request& request, int ranks) {
  for (const Rule& r : rules)
    if (r.collective == request.collective && r.ranks.has(ranks) && r.bytes.has(request.bytes)) return &r;
  return nullptr;
}

}  // namespace

Schedules* schedules_of(MPI_Comm comm) {
  if (Inside::inside || comm == MPI_COMM_NULL) return nullptr;
  std::call_once(read_once, read_table);
  void* value = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, key, &value, &there);
  return there != 0 ? static_cast<Schedules*>(value) : make_for(comm);
}

void count(Collective collective, bool ours) {
  counts[static_cast<std::size_t>(collective)][ours ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<collectives::Execution> Schedules::make(const Request& request) const {
  const Inside inside;
  const Rule* const rule = rule_for(request, channel_.ranks());
  if (rule == nullptr || rule->algorithm == nullptr) return nullptr;
  try {
    const collectives::Schedule schedule = collectives::schedule_for(*rule->algorithm, request.collective, channel_.ranks(), request.root,
                                                                     rule->segments, static_cast<double>(request.bytes));
    const std::int64_t elements = collectives::elements_of(request.collective, request.count, channel_.ranks());
    return std::make_unique<collectives::Execution>(schedule, channel_, collectives::Elements{request.type, request.op, elements},
                                                    request.apart);
  } catch (const collectives::Refused& refused) {
    static std::once_flag once;
    std::call_once(once, [&] { print_note(std::string(refused.what()) + "; using the library's own collective there"); });
    return nullptr;
  }
}

collectives::Execution* Schedules::find(const Request& request) {
  ++clock_;
  for (Entry& e : entries_)
    if (e.request == request) {
      e.used = clock_;
      return e.execution.get();
    }
  if (entries_.size() == most) entries_.erase(std::ranges::min_element(entries_, {}, &Entry::used));
  entries_.push_back({request, clock_, make(request)});
  return entries_.back().execution.get();
}

char* Schedules::room(std::int64_t bytes) {
  if (bytes > room_bytes_) {
    room_.reset(new char[static_cast<std::size_t>(bytes)]);
    room_bytes_ = bytes;
  }
  return room_.get();
}

}  // namespace fl::preload
