// What a variant's source file needs: FL_VARIANT(workload, step) declares which function is one step,
//
//   void step(dot::State& s, fl::Index iteration);
//   FL_VARIANT(dot, step)
//
// or FL_VARIANT(workload, Exchange) which struct takes the steps, where something must live longer than one of them:
//
//   struct Exchange {                                          the harness makes one object for each case, after init
//     void open(halo::State&);                                 optional (or a constructor from halo::State&): requests, windows, tables
//     void step(halo::State&, fl::Index iteration);            one step
//     void close(halo::State&);                                optional: frees them; before the destructor
//   };
//
// If the workload's State has `static constexpr bool own_loops = true`, or if a step is a whole run, either may instead contain the loop,
// (State&, fl::Index first, fl::Index count), because something (a team of threads) must live as long as the loop. The loop calls
// mutate_inputs(s, i) before each step i. In a struct its name is `loop`. Otherwise the harness runs the loop: a variant that sees which step is
// the last of a batch could leave out the others.
//
// A file of many kernels, functions or structs as above, names them:
//
//   static constexpr fl::Kernel table[] = {FL_KERNEL(loops, copy), FL_KERNEL(loops, daxpy)};
//   FL_KERNELS(loops, table)
//
// The header declares the parameter that chooses one, and defines cost and check of each; a file need not have all of them:
//   fields.choice("kernel", kernel, "copy|daxpy|triad", "which loop");         or fl::options(a table of theirs).c_str()
// kernel=copy,daxpy and kernel=* (all that the file has) are cases of one launch, each with a check of its own.
//
// Further properties of a variant follow, members of fl::Description in their order:
//
//   FL_VARIANT(halo, Exchange, .refuse = packed_only, .traits = {.one_node = true})
#pragma once

#include <concepts>
#include <span>
#include <type_traits>

#include "firstlight/workload.hpp"

namespace fl {

namespace device {
struct Runtime;  // firstlight/device.hpp
}

enum class Threads { funneled, serialized, multiple };  // what the variant requires of MPI_Init_thread

// How steps are taken; `state` is that of the workload, `object` what open() made.
struct Steps {
  void* (*open)(void* state) = nullptr;                                          // null where steps need no object
  void (*batch)(void* object, void* state, Index first, Index count) = nullptr;  // `count` steps, iterations first, first + 1, ...
  void (*close)(void* object, void* state) = nullptr;                            // null with open
};

// One of the kernels of a file: a value of the parameter `kernel`.
struct Kernel {
  const char* name;
  Steps steps;
};

// What the harness sees of a variant; `state`, `params` and `traits` are those of its workload.
struct Variant {
  const char* name;      // from the file's name
  const char* compiler;  // name and version
  const char* flags;
  void (*in_each_thread)(int threads, void (*call)(void*), void* data);  // null where it was compiled without OpenMP
  Steps steps = {};                                                      // none where there are kernels
  std::span<const Kernel> kernels = {};
  std::string (*refuse)(const void* params) = nullptr;
  void (*first_touch)(void* state) = nullptr;
  void (*start)() = nullptr;
  void (*stop)() = nullptr;
  Threads threads = Threads::funneled;
  const void* traits = nullptr;
  const char* unverified = nullptr;
  bool idle = false;
  const device::Runtime* device = nullptr;
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

inline namespace FL_ROLE {

// What a variant declares beyond its steps.
template <class Params, class State, class Traits>
struct Description {
  std::string (*refuse)(const Params&) = nullptr;  // empty, or why this variant cannot run these parameters
  void (*first_touch)(State&) = nullptr;           // between allocation and filling: each thread writes its pages first
  void (*start)() = nullptr;  // once a process, right after MPI is initialised: a runtime on top of it (OpenSHMEM, coarrays)
  void (*stop)() = nullptr;   // once, right before MPI is finalised; such a runtime may finalise it by itself
  Threads threads = Threads::funneled;
  Traits traits{};                   // what the workload must know of the variant, a struct of its own
  const char* unverified = nullptr;  // why nothing is checked (a part is left out on purpose): it is timed, never ranked or compared
  bool idle = false;                 // a step leaves the processor on purpose: CPU time below wall time is then no sign of a disturbance
  const device::Runtime* device = nullptr;  // how its steps reach a device; null where they run on the host
};

namespace seam {

// True if a variant may contain the loop. If a step is a whole run, the harness calls the loop for one step at a time.
template <class State>
concept OwnLoops = requires(State& s) { reset(s); } || requires { requires State::own_loops; };

// The loop that is timed lives with the step, so that the compiler under test sees both; the barrier keeps every step alive.
template <class State, class Step>
[[gnu::always_inline]] inline void each_step(State& s, Index first, Index count, Step step) {
  for (Index i = first; i < first + count; ++i) {
    mutate_inputs(s, i);
    step(i);
    asm volatile("" : : "g"(&s) : "memory");
  }
}

// Steps of a function.
template <class State, auto step>
void batch(void*, void* state, Index first, Index count) {
  State& s = *static_cast<State*>(state);
  if constexpr (std::invocable<decltype(step), State&, Index, Index>) {
    static_assert(OwnLoops<State>, "the harness executes the steps of this workload: replace the loop with a step");
    step(s, first, count);
  } else
    each_step(s, first, count, [&](Index i) __attribute__((always_inline)) { step(s, i); });
  asm volatile("" : : "g"(state) : "memory");
}

// Steps of an object.
template <class State, class Object>
struct Stepping {
  static void* open(void* state) {
    State& s = *static_cast<State*>(state);
    if constexpr (!std::is_aggregate_v<Object> && std::is_constructible_v<Object, State&>) {
      return new Object(s);
    } else {
      auto* object = new Object();
      if constexpr (opens) object->open(s);
      return object;
    }
  }

  static void batch(void* object, void* state, Index first, Index count) {
    State& s = *static_cast<State*>(state);
    Object& o = *static_cast<Object*>(object);
    if constexpr (requires { o.loop(s, first, count); }) {
      static_assert(OwnLoops<State>, "the harness executes the steps of this workload: replace the loop with a step");
      o.loop(s, first, count);
    } else
      each_step(s, first, count, [&](Index i) __attribute__((always_inline)) { o.step(s, i); });
    asm volatile("" : : "g"(state), "g"(object) : "memory");
  }

  static void close(void* object, void* state) {
    auto* o = static_cast<Object*>(object);
    if constexpr (closes) o->close(*static_cast<State*>(state));
    delete o;
  }

 private:
  static constexpr bool opens = requires(Object& o, State& s) { o.open(s); };
  static constexpr bool closes = requires(Object& o, State& s) { o.close(s); };
  static_assert(opens || !requires { &Object::open; }, "open() must accept the workload's State&");
  static_assert(closes || !requires { &Object::close; }, "close() must accept the workload's State&");
};

// What the harness sees of a description; its steps are not there yet.
template <class Params, class State, const auto& description>
constexpr Variant erased(const char* name, const char* compiler, const char* flags) {
  Variant v{.name = name, .compiler = compiler, .flags = flags, .in_each_thread = call_in_each_thread};
  // Check the pointers on each call: under sanitizers gcc does not treat the address of a function as a constant.
  v.refuse = [](const void* params) {
    const auto question = description.refuse;
    return question == nullptr ? std::string() : question(*static_cast<const Params*>(params));
  };
  v.first_touch = [](void* state) {
    const auto touched = description.first_touch;
    if (touched != nullptr) touched(*static_cast<State*>(state));
  };
  v.start = description.start;
  v.stop = description.stop;
  v.threads = description.threads;
  v.traits = &description.traits;
  v.unverified = description.unverified;
  v.idle = description.idle;
  v.device = description.device;
  return v;
}

template <class State, auto step>
constexpr Steps steps_of() {
  return {.batch = &batch<State, step>};
}

template <class State, class Object>
constexpr Steps steps_of() {
  using S = Stepping<State, Object>;
  return {.open = &S::open, .batch = &S::batch, .close = &S::close};
}

constexpr Variant taking(Variant v, const Steps& steps) {
  v.steps = steps;
  return v;
}

constexpr Variant taking(Variant v, std::span<const Kernel> kernels) {
  v.kernels = kernels;
  return v;
}

}  // namespace seam
}  // namespace FL_ROLE
}  // namespace fl

#define FL_VARIANT(workload, steps, ...) FL_VARIANT_OF(workload, (fl::seam::steps_of<workload::State, steps>())__VA_OPT__(, ) __VA_ARGS__)
#define FL_KERNELS(workload, table, ...) FL_VARIANT_OF(workload, table __VA_OPT__(, ) __VA_ARGS__)
// Named like its function or struct: the loop that is timed is compiled here, around it.
#define FL_KERNEL(workload, steps) \
  fl::Kernel { #steps, fl::seam::steps_of<workload::State, steps>() }
// FL_VARIANT_NAME, FL_COMPILER and FL_FLAGS come from the build. An initialiser of fl::variant itself would look the variant's names up
// in fl first.
#define FL_VARIANT_OF(workload, steps, ...) \
  FL_DECLARED_BY(workload)                  \
  FL_DESCRIBED(workload, steps __VA_OPT__(, ) __VA_ARGS__) const fl::Variant fl::variant = fl_this_variant;
#define FL_DESCRIBED(workload, steps, ...)                                                                                       \
  static constexpr fl::Description<workload::Params, workload::State, workload::fl_declared::Found> fl_description{__VA_ARGS__}; \
  static constexpr fl::Variant fl_this_variant = fl::seam::taking(                                                               \
      fl::seam::erased<workload::Params, workload::State, fl_description>(FL_VARIANT_NAME, FL_COMPILER, FL_FLAGS), steps);
