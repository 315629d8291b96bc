#include <cmath>
#include <ostream>
#include <unordered_map>

#include "firstlight/network/evaluate.hpp"
#include "firstlight/network/goal.hpp"
#include "firstlight/network/plan.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

class Writer {
 public:
  Writer(const Plan& plan, const Machine& machine, bool raw, std::ostream& out) : plan_(plan), machine_(machine), raw_(raw), out_(out) {
    if (!raw) number_messages();
  }

  void rank(std::int32_t rank) {
    const Index first = plan_.first(rank), end = plan_.first(rank + 1);
    labels_.assign(1, 1);
    for (Index i = first; i < end; ++i) labels_.push_back(labels_.back() + plan_.steps()[i].segments);
    out_ << "rank " << rank << " {\n";
    for (Index i = first; i < end; ++i)
      for (std::int32_t k = 0; k < plan_.steps()[i].segments; ++k) operation(i, first, k);
    for (Index i = first; i < end; ++i)
      for (std::int32_t k = 0; k < plan_.steps()[i].segments; ++k) dependencies(i, first, k);
    out_ << "}\n";
  }

 private:
  // A tag for each message between two ranks: messages match in the order of the programs, which need not be that in which they go.
  void number_messages() {
    tags_.resize(plan_.steps().size());
    std::unordered_map<std::int32_t, std::int32_t> sent;
    for (std::int32_t rank = 0; rank < plan_.ranks(); ++rank) {
      sent.clear();
      for (Index i = plan_.first(rank); i < plan_.first(rank + 1); ++i) {
        const Step& s = plan_.steps()[i];
        if (s.kind != Kind::send) continue;
        std::int32_t& next = sent[s.peer];
        tags_[i] = tags_[s.match] = next;
        next += s.segments;
      }
    }
  }
  std::int32_t tag(Index i, std::int32_t k) const { return raw_ ? plan_.tag(i) : tags_[i] + k; }
  std::int64_t label(Index i, Index first, std::int32_t k) const { return labels_[i - first] + k; }
  std::int64_t whole_number(double x) const { return std::llround(x); }

  void operation(Index i, Index first, std::int32_t k) {
    const Step& s = plan_.steps()[i];
    out_ << 'l' << label(i, first, k) << ": ";
    if (s.kind == Kind::send || s.kind == Kind::receive) {
      const double bytes = raw_ ? s.bytes : loggops_bytes(s.bytes);
      out_ << (s.kind == Kind::send ? "send " : "recv ") << whole_number(bytes) << "b " << (s.kind == Kind::send ? "to " : "from ")
           << s.peer;
      if (tag(i, k) != 0) out_ << " tag " << tag(i, k);
    } else {
      const double work = s.kind == Kind::compute ? s.bytes : s.bytes * (s.kind == Kind::copy ? machine_.copy : machine_.reduce);
      out_ << "calc " << whole_number(work);
    }
    if (s.cpu != 0) out_ << " cpu " << int{s.cpu};
    if (raw_ && s.nic != 0 && (s.kind == Kind::send || s.kind == Kind::receive)) out_ << " nic " << int{s.nic};
    out_ << '\n';
  }
  void dependencies(Index i, Index first, std::int32_t k) {
    const Step& s = plan_.steps()[i];
    const std::int64_t me = label(i, first, k);
    if (k > 0) out_ << 'l' << me << " irequires l" << me - 1 << '\n';
    for (const Wait& w : plan_.waits(s)) {
      const std::int32_t segments = plan_.steps()[w.on].segments;
      out_ << 'l' << me << (w.started ? " irequires l" : " requires l") << label(w.on, first, segments == s.segments ? k : segments - 1)
           << '\n';
    }
  }

  const Plan& plan_;
  const Machine& machine_;
  bool raw_;
  std::ostream& out_;
  std::vector<std::int64_t> labels_;
  std::vector<std::int32_t> tags_;  // of the first segment
};

void write_all(const Plan& plan, const Machine& machine, bool raw, std::ostream& out) {
  Writer writer(plan, machine, raw, out);
  out << "num_ranks " << plan.ranks() << '\n';
  for (std::int32_t rank = 0; rank < plan.ranks(); ++rank) writer.rank(rank);
}

}  // namespace

void write_goal(const collectives::Schedule& schedule, double bytes, const Machine& machine, std::ostream& out) {
  write_all(Plan(schedule, whole(schedule, bytes), false), machine, false, out);
}

void write_goal(const Plan& plan, std::ostream& out) { write_all(plan, {}, true, out); }

}  // namespace fl::network
