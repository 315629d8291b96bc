// When recording begins and ends, and what is written then.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "peers.hpp"
#include "record.hpp"
#include "state.hpp"

namespace fl {

MPI_Comm world();
void begin_clock();
bool write_file(bool complete, const char* how, double seconds, double second_per_tick);

namespace {

std::atomic<bool> running{false};
pid_t owner = 0;  // a child made by fork has the tables of its parent, but they are not its own
std::uint64_t first_tick = 0, first_nanosecond = 0;

const void* fortran_in_place = nullptr;  // of Open MPI; the Fortran side of MPICH passes on what C programs pass

// A process started by MPI_Comm_spawn has an MPI_COMM_WORLD of its own.
bool spawned() {
  MPI_Comm parent{};
  real.Comm_get_parent(&parent);
#ifdef OPEN_MPI
  return parent != static_cast<MPI_Comm>(object("ompi_mpi_comm_null"));
#else
  return parent != MPI_COMM_NULL;
#endif
}

void end(bool complete, const char* how);  // writes the rank's file; a second call does nothing

__attribute__((destructor)) void leave() { end(false, "the process ended without MPI_Finalize"); }

// MPI is initialised.
void begin() {
  if (std::getenv("FIRSTLIGHT_PROFILE") == nullptr || running.load() || spawned()) return;
  fortran_in_place = object("mpi_fortran_in_place_");
  prepare_groups();
  owner = getpid();
  first_tick = now();
  first_nanosecond = nanoseconds();
  begin_clock();
  running.store(true);
  enter_phase(1);
}

void end(bool complete, const char* how) {
  if (owner != getpid() || !running.exchange(false)) return;
  state.ended.store(true);
  enter_phase(0);
  const double seconds = 1e-9 * static_cast<double>(nanoseconds() - first_nanosecond);
  const std::uint64_t ticks = now() - first_tick;
  if (!write_file(complete, how, seconds, ticks > 0 ? seconds / static_cast<double>(ticks) : 0))
    std::fprintf(stderr, "firstlight profile: rank %d cannot write its record into %s\n", state.rank, std::getenv("FIRSTLIGHT_PROFILE"));
}

}  // namespace

bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE || (buffer != nullptr && buffer == fortran_in_place); }

bool nothing_sent(MPI_Op op) {
#ifdef OPEN_MPI
  return op == static_cast<MPI_Op>(object("ompi_mpi_op_no_op"));
#else
  return op == MPI_NO_OP;
#endif
}

}  // namespace fl

#define FL_VISIBLE extern "C" __attribute__((visibility("default")))

FL_VISIBLE int MPI_Init(int* argc, char*** argv) {
  fl::attach();
  const int status = fl::real.Init(argc, argv);
  if (status == MPI_SUCCESS) fl::begin();
  return status;
}

FL_VISIBLE int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  fl::attach();
  const int status = fl::real.Init_thread(argc, argv, required, provided);
  if (status == MPI_SUCCESS) fl::begin();
  return status;
}

FL_VISIBLE int MPI_Finalize(void) {
  fl::end(true, "MPI_Finalize");
  return fl::real.Finalize();
}

FL_VISIBLE int MPI_Abort(MPI_Comm comm, int code) {
  fl::end(false, "MPI_Abort");
  return fl::real.Abort(comm, code);
}

FL_VISIBLE int MPI_Pcontrol(const int level, ...) {
  if (fl::state.phase_count > 0) fl::enter_phase(level);
  return MPI_SUCCESS;
}

#define FL_FORTRAN_INIT(name)                                        \
  FL_VISIBLE void name(MPI_Fint* error) {                            \
    fl::attach();                                                    \
    reinterpret_cast<void (*)(MPI_Fint*)>(fl::symbol(#name))(error); \
    fl::begin();                                                     \
  }
#define FL_FORTRAN_INIT_THREAD(name)                                                                           \
  FL_VISIBLE void name(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {                              \
    fl::attach();                                                                                              \
    reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*)>(fl::symbol(#name))(required, provided, error); \
    fl::begin();                                                                                               \
  }
#define FL_FORTRAN_FINALIZE(name)                                    \
  FL_VISIBLE void name(MPI_Fint* error) {                            \
    fl::end(true, "MPI_Finalize");                                   \
    reinterpret_cast<void (*)(MPI_Fint*)>(fl::symbol(#name))(error); \
  }
#define FL_FORTRAN_ABORT(name)                                                                         \
  FL_VISIBLE void name(MPI_Fint* comm, MPI_Fint* code, MPI_Fint* error) {                              \
    fl::end(false, "MPI_Abort");                                                                       \
    reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*, MPI_Fint*)>(fl::symbol(#name))(comm, code, error); \
  }
#define FL_FORTRAN_PCONTROL(name) \
  FL_VISIBLE void name(const MPI_Fint* level) { MPI_Pcontrol(*level); }

FL_FORTRAN_INIT(mpi_init_)
FL_FORTRAN_INIT(mpi_init_f08_)
FL_FORTRAN_INIT_THREAD(mpi_init_thread_)
FL_FORTRAN_INIT_THREAD(mpi_init_thread_f08_)
FL_FORTRAN_FINALIZE(mpi_finalize_)
FL_FORTRAN_FINALIZE(mpi_finalize_f08_)
FL_FORTRAN_ABORT(mpi_abort_)
FL_FORTRAN_ABORT(mpi_abort_f08_)
FL_FORTRAN_PCONTROL(mpi_pcontrol_)
FL_FORTRAN_PCONTROL(mpi_pcontrol_f08_)
