// main() of every workload program: describe, or run the cases and record them.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "comm.hpp"
#include "describe.hpp"
#include "device_check.hpp"
#include "firstlight/program.hpp"
#include "kernels.hpp"
#include "measure.hpp"
#include "recorder.hpp"
#include "seed.hpp"

namespace {

// A rank must not outlive the process that started it (the launcher may be killed with no chance to notify it).
void die_with_parent() {
  if (std::getenv("FIRSTLIGHT_LAUNCH") == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// Ends the program on an uncaught exception. It unwinds nothing: destructors that free windows or communicators would wait for the other
// ranks, which wait for this one.
[[noreturn]] void end_all() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    fl::abort_all("out of memory; choose a smaller size");
  } catch (const std::exception& error) {
    fl::abort_all(error.what());
  } catch (...) {
  }
  std::abort();
}

// What the program will not run, in one line: names and files of others stand in it, and nothing may move a cursor.
void refuse(const char* program, std::string why) {
  for (char& c : why)
    if (const auto byte = static_cast<unsigned char>(c); byte < ' ' || byte == 0x7F) c = '?';
  std::fprintf(stderr, "%s: %s\n", program, why.c_str());
}

// Whether values of parameters were given.
bool given(const fl::Arguments& arguments) { return !arguments.cases.empty() && !arguments.cases.front().empty(); }

fl::Team team(const fl::Arguments& arguments) { return {fl::comm::rank(), fl::comm::size(), arguments.threads, fl::comm::nodes()}; }

int run(const fl::Arguments& arguments, const std::vector<fl::PlannedCase>& cases, fl::Counters& counters) {
  fl::choose_device();
  fl::draw_seed(static_cast<std::uint64_t>(arguments.seed));
  fl::Recorder recorder(arguments.output);
  recorder.launch(team(arguments), counters);
  bool verified = true;
  int number = 0;
  for (const fl::PlannedCase& one : cases) {
    if (one.refusal.empty())
      verified = fl::run_case(recorder, counters, arguments, team(arguments), number, one.values) && verified;
    else
      fl::refuse_case(recorder, arguments, team(arguments), number, one);
    ++number;
  }
  recorder.end(number);
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  die_with_parent();
  fl::Counters counters;  // before any thread starts
  if (const std::string wrong = fl::wrong_kernels(); !wrong.empty()) {
    std::fprintf(stderr, "%s: %s\n", argv[0], wrong.c_str());
    return 3;
  }
  fl::Arguments arguments;
  try {
    arguments = fl::parse(argc, argv);
    if (const std::string wrong = arguments.describe && given(arguments) ? fl::wrong_values(arguments) : ""; !wrong.empty())
      throw fl::UsageError(wrong);
  } catch (const fl::UsageError& error) {
    refuse(argv[0], error.what());
    return 2;
  }
  if (arguments.describe) {
    std::puts(fl::describe().c_str());
    return 0;
  }
  fl::comm::start(argc, argv, fl::variant.threads);
  if (fl::variant.start != nullptr) fl::variant.start();
  std::set_terminate(end_all);
  int status = 0;
  if (const fl::PlannedCases planned = fl::planned_cases(arguments, team(arguments)); planned.refusal.empty()) {
    status = run(arguments, planned.each, counters);
  } else {
    if (fl::comm::rank() == 0) refuse(argv[0], planned.refusal);
    status = 2;
  }
  if (fl::variant.stop != nullptr) fl::variant.stop();
  fl::comm::finish();
  return status;
}
