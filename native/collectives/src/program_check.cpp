#include "program_check.hpp"

#include <algorithm>

namespace fl::collectives {

namespace {

constexpr const char* kinds[] = {"send", "receive", "combine", "copy", "compute"};
constexpr const char* spaces[] = {"data", "input", "scratch"};

bool is_message(const Operation& o) { return o.kind == Kind::send || o.kind == Kind::receive || o.kind == Kind::combine; }

}  // namespace

std::string describe(Rank rank, Op index, const Operation& o) {
  std::string words = "rank " + std::to_string(rank) + ", operation " + std::to_string(index) + " (" + kinds[static_cast<int>(o.kind)];
  if (is_message(o)) {
    words += o.kind == Kind::send ? " to rank " : " from rank ";
    words += std::to_string(o.peer);
    if (o.tag != 0) words += ", tag " + std::to_string(o.tag);
  }
  return words + ")";
}

ProgramCheck::ProgramCheck(const Schedule& schedule)
    : schedule_(schedule), touched_(static_cast<std::size_t>(2 * schedule.chunks + schedule.scratch)) {}

std::string ProgramCheck::invalid(const Operation& o, const Range& r) const {
  if (r.segments < 1) return "a train without segments";
  if (r.count < 0 || r.run < 0 || r.row < 0) return "a negative number of chunks";
  if (r.count == 0 || schedule_.collective == Collective::other) return "";  // that of a file has lengths, not places
  const Chunk limit = r.space == Space::scratch ? schedule_.scratch : schedule_.chunks;
  if (r.space == Space::input && schedule_.collective != Collective::alltoall) return "only alltoall has a separate input";
  if (r.space == Space::input && &r == &o.range && o.kind != Kind::send) return "the input is read only";
  Chunk least = r.chunk(0, 0), most = r.chunk(0, r.count - 1);
  for (Chunk i = 0; i < r.count && (r.run != 0 || r.row != 0); ++i) {
    least = std::min(least, r.chunk(0, i));
    most = std::max(most, r.chunk(0, i));
  }
  const Chunk moved = (r.segments - 1) * r.step;
  if (least + std::min<Chunk>(moved, 0) < 0 || most + std::max<Chunk>(moved, 0) >= limit)
    return std::string("chunks beyond those of ") + spaces[static_cast<int>(r.space)];
  return "";
}

std::string ProgramCheck::invalid(Rank rank, const Program& program) const {
  const auto operations = program.operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& o = operations[i];
    const auto index = static_cast<Op>(i);
    std::string why;
    if (is_message(o) && (o.peer < 0 || o.peer >= schedule_.ranks)) why = "no such rank";
    if (o.kind != Kind::compute && why.empty()) why = invalid(o, o.range);
    if (o.kind == Kind::copy && why.empty()) why = invalid(o, o.source);
    if (o.kind == Kind::copy && why.empty() && (o.range.count != o.source.count || o.range.segments != o.source.segments))
      why = "source and target differ in size";
    for (const Dependency& d : program.after(o))
      if (d.on < 0 || d.on >= index) why = "waits for an operation that does not precede it";
    if (!why.empty()) return describe(rank, index, o) + ": " + why;
  }
  return "";
}

std::size_t ProgramCheck::place(Space space, Chunk chunk) const {
  switch (space) {
    case Space::data:
      return static_cast<std::size_t>(chunk);
    case Space::input:
      return static_cast<std::size_t>(schedule_.chunks + chunk);
    case Space::scratch:
      return static_cast<std::size_t>(2 * schedule_.chunks + chunk);
  }
  return 0;
}

// Walks from `op` back to `before`. What is segment k of one train waits for segment k of another until, on the way, a train waits for
// one of a different length: then for all of it.
void ProgramCheck::search(Op before, Op op) {
  from_ = before;
  to_ = op;
  as_whole_ = by_segment_ = false;
  const auto operations = program_->operations();
  if (++stamp_ == 0) {
    for (auto& seen : seen_) std::ranges::fill(seen, 0);
    stamp_ = 1;
  }
  for (auto& seen : seen_)
    if (seen.size() < operations.size()) seen.resize(operations.size(), 0);
  open_.assign(1, {op, false});
  while (!open_.empty() && !as_whole_) {
    const auto [at, whole] = open_.back();
    open_.pop_back();
    const Operation& o = operations[static_cast<std::size_t>(at)];
    for (const Dependency& d : program_->after(o)) {
      if (d.on < before) continue;
      const bool all = whole || operations[static_cast<std::size_t>(d.on)].range.segments != o.range.segments;
      if (d.on == before) {
        if (!d.started) (all ? as_whole_ : by_segment_) = true;
        continue;
      }
      std::uint32_t& seen = seen_[all ? 1 : 0][static_cast<std::size_t>(d.on)];
      if (seen == stamp_) continue;
      seen = stamp_;
      open_.emplace_back(d.on, all);
    }
  }
}

bool ProgramCheck::ordered(const Access& before, Op op, std::int32_t segment) {
  if (before.op == op) return false;  // segments of one operation start in order, and complete in any
  if (from_ != before.op || to_ != op) search(before.op, op);
  return as_whole_ || (by_segment_ && before.segment <= segment);
}

bool ProgramCheck::read(std::size_t where, Op op, std::int32_t segment) {
  Touched& t = touched_[where];
  if (t.write.op == no_op && t.reads < 0) used_.push_back(where);
  culprit_ = t.write;
  if (t.write.op != no_op && !ordered(t.write, op, segment)) return false;
  reads_.push_back({op, segment, t.reads});
  t.reads = static_cast<std::int32_t>(reads_.size()) - 1;
  return true;
}

bool ProgramCheck::write(std::size_t where, Op op, std::int32_t segment) {
  Touched& t = touched_[where];
  if (t.write.op == no_op && t.reads < 0) used_.push_back(where);
  for (std::int32_t i = t.reads; i >= 0; i = reads_[static_cast<std::size_t>(i)].next) {
    culprit_ = reads_[static_cast<std::size_t>(i)];
    if (!ordered(culprit_, op, segment)) return false;
  }
  culprit_ = t.write;
  if (t.write.op != no_op && t.reads < 0 && !ordered(t.write, op, segment)) return false;
  t = {.write = {op, segment, -1}, .reads = -1};
  return true;
}

std::string ProgramCheck::conflict(Rank rank, const Access& before, Op op, Space space, Chunk chunk) const {
  const auto operations = program_->operations();
  return describe(rank, op, operations[static_cast<std::size_t>(op)]) + " races with operation " + std::to_string(before.op) + " (" +
         kinds[static_cast<int>(operations[static_cast<std::size_t>(before.op)].kind)] + ") for chunk " + std::to_string(chunk) + " of " +
         spaces[static_cast<int>(space)];
}

std::string ProgramCheck::race(Rank rank, const Program& program) {
  program_ = &program;
  from_ = to_ = no_op;
  for (const std::size_t where : used_) touched_[where] = {};
  used_.clear();
  reads_.clear();
  if (schedule_.collective == Collective::other) return "";
  const auto operations = program.operations();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Operation& o = operations[i];
    if (o.kind == Kind::compute) continue;
    const auto op = static_cast<Op>(i);
    for (std::int32_t k = 0; k < o.range.segments; ++k) {
      if (o.kind == Kind::copy)
        for (Chunk c = 0; c < o.source.count; ++c)
          if (!read(place(o.source.space, o.source.chunk(k, c)), op, k))
            return conflict(rank, culprit_, op, o.source.space, o.source.chunk(k, c));
      for (Chunk c = 0; c < o.range.count; ++c) {
        const std::size_t where = place(o.range.space, o.range.chunk(k, c));
        if (!(o.kind == Kind::send ? read(where, op, k) : write(where, op, k)))
          return conflict(rank, culprit_, op, o.range.space, o.range.chunk(k, c));
      }
    }
  }
  return "";
}

}  // namespace fl::collectives
