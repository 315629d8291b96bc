// Squares transposed in registers and written past the caches, by a team.
#include <memory>

#include "kernels/past_caches.hpp"
#include "kernels/threads.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Threads {
  std::vector<std::unique_ptr<transpose::ToMemory>> parts;  // each thread's made by itself, so that its pages are near it

  void open(transpose::State& s) {
    parts.resize(static_cast<std::size_t>(s.team.threads));
#pragma omp parallel num_threads(s.team.threads)
    {
      auto& mine = parts[static_cast<std::size_t>(omp_get_thread_num())];
      mine = std::make_unique<transpose::ToMemory>();
      mine->open(s, transpose::own_rows(s));
    }
  }
  void step(transpose::State& s, fl::Index) {
#pragma omp parallel num_threads(s.team.threads)
    parts[static_cast<std::size_t>(omp_get_thread_num())]->turn(s);
  }
};

}  // namespace

FL_VARIANT(transpose, Threads, .refuse = transpose::past_caches_refuses, .first_touch = transpose::place)
