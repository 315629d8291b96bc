// What a variant's source file needs: FL_VARIANT(workload, step) says which function is one step.
//
//   void step(dot::State& s, fl::Index iteration);
//   FL_VARIANT(dot, step)                                    or
//   FL_VARIANT(dot, step, .setup = &setup_function, .threads = fl::Threads::multiple)
//
// A file of many kernels, each of them void copy(loops::State& s, fl::Index iteration), names them:
//   static constexpr fl::Kernel table[] = {FL_KERNEL(loops, copy), FL_KERNEL(loops, daxpy)};
//   FL_KERNELS(loops, table)
// The header declares the parameter that chooses one, and knows cost and check of each; a file need not have all of them:
//   fields.choice("kernel", kernel, "copy|daxpy|triad", "which loop");         or fl::options(a table of theirs).c_str()
// kernel=copy,daxpy and kernel=* (all that the file has) are cases of one launch, each with a check of its own.
#pragma once

#include <span>

#include "firstlight/workload.hpp"

namespace fl {

namespace device {
struct Runtime;  // firstlight/device.hpp
}

enum class Threads { funneled, serialized, multiple };  // what the variant asks of MPI_Init_thread

// `count` steps, iterations first, first + 1, ...
using Batch = void (*)(void* state, Index first, Index count);

// One of the kernels of a file: a value of the parameter `kernel`.
struct Kernel {
  const char* name;
  Batch batch;
};

struct Variant {
  const char* name;      // from the file's name
  const char* compiler;  // name and version
  const char* flags;
  void (*in_each_thread)(int threads, void (*call)(void*), void* data);  // null where it was compiled without OpenMP
  Batch batch;                                                           // null where there are kernels
  std::span<const Kernel> kernels = {};
  std::string (*refuse)(const void* params) = nullptr;  // empty, or why this variant cannot run these parameters
  void (*first_touch)(void* state) = nullptr;           // between allocation and filling: each thread writes its pages first
  void (*setup)(void* state) = nullptr;                 // once after init: persistent requests, windows
  void (*finish)(void* state) = nullptr;                // once at the end: frees what setup made
  void (*start)() = nullptr;  // once a process, right after MPI is initialised: a runtime on top of it (OpenSHMEM, coarrays)
  void (*stop)() = nullptr;   // once, right before MPI is finalised; such a runtime may finalise it by itself
  Threads threads = Threads::funneled;
  unsigned traits = 0;  // bits with a meaning of the workload's own: what its header must know of the variant before any state exists
  const char* unverified = nullptr;  // why nothing is checked (a part is left out on purpose): it is timed, never ranked or compared
  bool idle = false;                 // a step leaves the processor on purpose: CPU time below wall time is then no sign of a disturbance
  const device::Runtime* device = nullptr;  // how its steps reach a device; null where they run on the host
};

extern const Variant variant;

// The harness has no OpenMP of its own: it sees the threads through the variant. Static, for it differs from file to file.
#ifdef _OPENMP
[[maybe_unused]] static void call_in_each_thread(int threads, void (*call)(void*), void* data) {
#pragma omp parallel num_threads(threads)
  call(data);
}
#else
inline constexpr std::nullptr_t call_in_each_thread = nullptr;
#endif

// The loop that is timed lives with the step, so that the compiler under test sees both; the barrier keeps every step alive.
template <class State, void (*step)(State&, Index)>
void batch(void* state, Index first, Index count) {
  State& s = *static_cast<State*>(state);
  for (Index i = first; i < first + count; ++i) {
    touch(s, i);
    step(s, i);
    asm volatile("" : : "g"(state) : "memory");
  }
}

// For a variant with a loop of its own, because something must live longer than a step (a team of threads, an epoch). Such a loop
// calls touch(s, i) before each step, and everything else that the loop above does too.
template <class State, void (*loop)(State&, Index first, Index count)>
void looped(void* state, Index first, Index count) {
  loop(*static_cast<State*>(state), first, count);
  asm volatile("" : : "g"(state) : "memory");
}

template <class State, void (*hook)(State&)>
void erased(void* state) {
  hook(*static_cast<State*>(state));
}

template <class Params, std::string (*question)(const Params&)>
std::string erased_refusal(const void* params) {
  return question(*static_cast<const Params*>(params));
}

}  // namespace fl

// FL_VARIANT_NAME, FL_COMPILER and FL_FLAGS come from the build.
#define FL_VARIANT(workload, step, ...) FL_VARIANT_BATCH((&fl::batch<workload::State, step>)__VA_OPT__(, ) __VA_ARGS__)
// void loop(dot::State& s, fl::Index first, fl::Index count): the whole loop, see fl::looped.
#define FL_VARIANT_LOOP(workload, loop, ...) FL_VARIANT_BATCH((&fl::looped<workload::State, loop>)__VA_OPT__(, ) __VA_ARGS__)
// Two steps: an initialiser of fl::variant itself would look the variant's names up in fl first.
#define FL_VARIANT_BATCH(function, ...)                                                       \
  static constexpr fl::Variant fl_this_variant{.name = FL_VARIANT_NAME,                       \
                                               .compiler = FL_COMPILER,                       \
                                               .flags = FL_FLAGS,                             \
                                               .in_each_thread = fl::call_in_each_thread,     \
                                               .batch = function __VA_OPT__(, ) __VA_ARGS__}; \
  const fl::Variant fl::variant = fl_this_variant;
// A file of many kernels, with hooks as above.
#define FL_KERNELS(workload, table, ...) FL_VARIANT_BATCH(nullptr, .kernels = table __VA_OPT__(, ) __VA_ARGS__)
// One of them, named like its function: the loop that is timed is compiled here, around it.
#define FL_KERNEL(workload, step) \
  fl::Kernel { #step, &fl::batch<workload::State, step> }
// A hook with the workload's own type: .setup = FL_HOOK(dot, prepare)
#define FL_HOOK(workload, function) &fl::erased<workload::State, function>
// The same for a question about parameters: .refuse = FL_REFUSE(stream, no_store)
#define FL_REFUSE(workload, function) &fl::erased_refusal<workload::Params, function>
