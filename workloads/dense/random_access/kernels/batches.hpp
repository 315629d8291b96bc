// Updates in batches: streams side by side fill a batch by vectors, and words are prefetched some updates ahead.
#pragma once

#include "firstlight/simd.hpp"
#include "updates.hpp"

namespace random_access {

template <class Update>
void in_batches(Word* table, Word mask, const Share& share, Update update) {
  using Vector = fl::simd::native<Word>;
  constexpr int vectors = 4, width = fl::simd::width<Word>, streams = vectors * width;
  constexpr fl::Index rows = look_ahead / streams, distance = 48;
  const fl::Index each_stream = share.count / streams;

  alignas(fl::simd::bytes) Word batch[look_ahead + distance];
  const Word stride = number(static_cast<Word>(each_stream));
  Word a = number(share.first);
  Vector at[vectors];
  for (int v = 0; v < vectors; ++v)
    for (int lane = 0; lane < width; ++lane, a = times(a, stride)) at[v][lane] = a;

  const auto prefetch = [&](Word next) __attribute__((always_inline)) { __builtin_prefetch(&table[next & mask], 1); };
  for (fl::Index done = 0; done < each_stream; done += rows) {
    const fl::Index some = std::min(rows, each_stream - done) * streams;
    for (fl::Index k = 0; k < some; k += streams)
      fl::simd::unroll<vectors>([&](auto v) {
        fl::simd::store(batch + k + v * width, at[v]);
        at[v] = (at[v] << 1) ^ ((0 - (at[v] >> 63)) & 7);
      });
    for (fl::Index k = 0; k < distance; ++k) batch[some + k] = batch[some - 1];  // what is prefetched behind the end
    for (fl::Index k = 0; k < std::min(distance, some); ++k) prefetch(batch[k]);
    for (fl::Index k = 0; k < some; ++k) {
      prefetch(batch[k + distance]);
      update(batch[k]);
    }
  }
  each({share.first + static_cast<Word>(each_stream * streams), share.count - each_stream * streams}, update);
}

}  // namespace random_access
