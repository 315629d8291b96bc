// device_copy: bandwidth and latency of copies between a GPU and the host, within the GPU, and from another GPU.
#pragma once

#include <cstring>

#include "firstlight/input_mutator.hpp"
#include "firstlight/variant.hpp"
#include "firstlight/workload.hpp"

namespace device_copy {

using Word = std::uint64_t;

// Memory on the other side of the copy, in the order of their names below.
enum class Memory { pinned, pageable, device, peer };
inline bool of_host(Memory memory) { return memory == Memory::pinned || memory == Memory::pageable; }

struct Params {
  std::string direction = "to_device";
  Memory memory = Memory::pinned;
  fl::Index bytes = 1 << 20;
  void declare(fl::Fields& fields) {
    fields.choice("direction", direction, "to_device|to_host", "which way");
    fields.choice("memory", memory, "pinned|pageable|device|peer",
                  "memory on the other side: pinned or ordinary pages of the host, memory of the same GPU or of the next GPU");
    fields.integer("bytes", bytes, "bytes", 8, fl::Index{1} << 36, "size of a copy; a multiple of 8");
  }
};

struct State {
  bool to_device = true;
  Memory memory = Memory::pinned;
  fl::Index words = 0;        // of a copy
  fl::Index offset = 0;       // of its first word in the source; follows the iteration
  fl::InputMutator changing;  // of the words of a copy
  fl::Index renewed = -1;     // the last iteration before this batch
  fl::Array<Word> source, target;
  // Variants on a device set these. fetch() copies the target from the device before a check if it is there; poisoned() poisons it there
  // after poison().
  void (*fetch)(State&) = nullptr, (*poisoned)(State&) = nullptr;
  void (*changed)(State&, fl::Index) = nullptr;  // where the source is there: takes its word i, which changes between batches only
  void* object = nullptr;                        // of theirs
};

inline constexpr fl::About about{
    .title = "Copies to and from a GPU",
    .cost = "The bytes of the copy, once per rank",
    .verified = "Every word, compared with its value, which follows from its place in the source and the iteration",
    .tolerance = "Exact",
};

inline constexpr fl::Metric metrics[] = {{"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
                                         {"time", "us", "operations", "time", 1e6, "lower"}};

inline std::string refuse(const Params& p, const fl::Team&) {
  if (p.bytes % 8 != 0) return "bytes must be a multiple of 8";
  if (p.direction == "to_host" && !of_host(p.memory)) return "direction=to_host needs memory=pinned or memory=pageable";
  return "";
}

// Each step takes its words from another place, a multiple of two lines further on: what is copied differs from step to step.
inline constexpr fl::Index places = 64, apart = 16;
inline fl::Index offset_of(fl::Index iteration) { return apart * (iteration % places); }

// And alternately another word of them changes, or a source that was kept would do.
inline Word word(fl::Index i, fl::Index iteration) { return fl::hash(static_cast<Word>(i) + (static_cast<Word>(iteration + 1) << 40)); }

inline void mutate_inputs(State& s, fl::Index iteration) {
  s.offset = offset_of(iteration);
  if (s.changed != nullptr) return;
  s.changing.mutate_inputs(iteration, [&](fl::Index i) { s.source[s.offset + i] = word(s.offset + i, iteration); });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  const fl::Index first = s.changing.mutate_between_batches(next, [&](fl::Index iteration) {
    mutate_inputs(s, iteration);
    if (s.changed == nullptr) return;
    s.changing.mutate_inputs(iteration, [&](fl::Index i) {
      s.source[s.offset + i] = word(s.offset + i, iteration);
      s.changed(s, s.offset + i);
    });
  });
  s.renewed = first - 1;
  return first;
}

inline void init(State& s, const Params& p, const fl::Team&) {
  s.to_device = p.direction == "to_device";
  s.memory = p.memory;
  s.words = p.bytes / 8;
  s.changing = fl::InputMutator(s.words, fl::InputMutator::most, true);
  s.source = fl::Array<Word>(s.words + apart * places);
  s.target = fl::Array<Word>(s.words);
  for (fl::Index i = 0; i < s.source.size(); ++i) s.source[i] = word(i, -1);
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto bytes = static_cast<double>(p.bytes);
  return {.bytes = bytes * team.ranks, .operations = static_cast<double>(team.ranks), .working_set = bytes};
}

inline void poison(State& s) {
  for (Word& word : s.target) word = fl::poison_bits;
  if (s.poisoned != nullptr) s.poisoned(s);
}

inline fl::Check check(State& s, fl::Index last) {
  if (s.fetch != nullptr) s.fetch(s);
  const auto in_source = [](fl::Index i, fl::Index iteration) { return i + offset_of(iteration); };
  const fl::ChangeLog ages(s.changing, s.changed == nullptr ? last : s.renewed, in_source);
  fl::Index wrong = 0, where = 0;
  for (fl::Index i = 0; i < s.words; ++i) {
    const fl::Index from = i + offset_of(last);
    if (s.target[i] != word(from, ages.of(from, -1)) && wrong++ == 0) where = i;
  }
  const auto all = s.words;
  return fl::Check::of(static_cast<double>(wrong), 0,
                       wrong == 0 ? fl::text("all %lld words are right", all)
                                  : fl::text("%lld of %lld words are wrong, the first at index %lld", wrong, all, where));
}

}  // namespace device_copy
