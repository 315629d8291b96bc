// Predicts and checks collectives on networks: firstlight-simulate list | predict | check | goal export | goal predict | patterns | pattern | stages.
#include <malloc.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "answer.hpp"
#include "firstlight/network/goal.hpp"
#include "patterns.hpp"

namespace {

using namespace simulate;
namespace collectives = fl::collectives;
namespace network = fl::network;

constexpr std::size_t most_text = std::size_t{1} << 31;

Task common(const Options& options) {
  Task task;
  task.machine = machine(options);
  task.question = question(options);
  task.loads = options.has("loads");
  if (options.has("checked")) task.check = Task::Check::always;
  if (options.has("unchecked")) task.check = Task::Check::never;
  if (options.has("segment-bytes")) task.segment_bytes = number("segment-bytes", options.text("segment-bytes"));
  const std::string segments = options.text("segments", "auto");
  if (segments != "auto") {
    const double k = number("segments", segments);
    if (k < 1 || k > 1 << 20 || k != std::floor(k)) throw Usage("--segments must be auto or a number of at least 1");
    task.segments = static_cast<std::int32_t>(k);
  }
  return task;
}

std::vector<const collectives::Algorithm*> algorithms(const Options& options, collectives::Collective collective) {
  std::vector<const collectives::Algorithm*> all;
  const std::string wanted = options.text("algorithm", "all");
  if (wanted == "all") {
    for (const collectives::Algorithm* a : collectives::all_algorithms())
      if (a->form(collective) != nullptr) all.push_back(a);
    return all;
  }
  for (const std::string& name : split(wanted, ',')) {
    const collectives::Algorithm* a = collectives::find_algorithm(name);
    if (a == nullptr) throw Usage("there is no algorithm '" + name + "'");
    all.push_back(a);
  }
  return all;
}

// Calls visit(task, topology) for every algorithm and size of the options.
template <class Visit>
void each(const Options& options, Visit visit) {
  Task task = common(options);
  const auto collective = collectives::collective_named(options.text("collective"));
  if (!collective) throw Usage("--collective: there is no collective '" + options.text("collective") + "'");
  task.topology = options.text("topology");
  const std::vector<collectives::Rank> missing = options.ranks("missing");
  const auto net = topology(task.topology, missing);
  const double root = number("root", options.text("root", "0"));
  if (root >= net->nodes() || root != std::floor(root)) throw Usage("--root is not a rank");
  task.problem = {.collective = *collective,
                  .ranks = net->nodes(),
                  .root = static_cast<collectives::Rank>(root),
                  .shape = net->shape(),
                  .open = net->open(),
                  .missing = missing};
  const bool sized = *collective != collectives::Collective::barrier;
  for (const double bytes : sized&& options.has("bytes") ? options.numbers("bytes") : std::vector<double>{0}) {
    for (const collectives::Algorithm* a : algorithms(options, *collective)) {
      task.algorithm = a;
      task.question.bytes = bytes;
      visit(task, *net);
    }
  }
}

void line(const std::string& text) { std::cout << text << '\n' << std::flush; }

std::string contents(const std::string& path) {
  const auto bounded = [&path](std::uintmax_t bytes) {
    if (bytes > most_text) throw Usage(path + " has more than " + std::to_string(most_text) + " bytes");
  };
  std::ifstream file;
  std::string text;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) throw Usage("cannot read " + path);
    std::error_code unknown;  // a pipe has no size
    const std::uintmax_t size = std::filesystem::file_size(path, unknown);
    if (!unknown) {
      bounded(size);
      text.reserve(size + 1);
    }
  }
  std::istream& in = path == "-" ? std::cin : file;
  for (std::size_t had = 0;; had = text.size()) {
    text.resize(std::max(text.capacity(), had + (1 << 16)));
    in.read(text.data() + had, static_cast<std::streamsize>(text.size() - had));
    text.resize(had + static_cast<std::size_t>(in.gcount()));
    bounded(text.size());
    if (in.gcount() == 0) break;
  }
  return text;
}

void goal(const Options& options) {
  const std::vector<std::string>& words = options.words();
  if (words.size() == 2 && words[1] == "export") {
    std::ofstream file;
    if (options.has("output")) {
      file.open(options.text("output"), std::ios::binary);
      if (!file) throw Usage("cannot write " + options.text("output"));
    }
    std::ostream& out = options.has("output") ? file : std::cout;
    int written = 0;
    each(options, [&](const Task& task, const network::Topology& net) {
      if (written++ > 0) throw Usage("goal export writes one schedule: one --algorithm and one of --bytes");
      network::write_goal(schedule(task, net), task.question.bytes, task.machine, out);
    });
    if (!out.flush()) throw Usage("the schedule could not be written");
    return;
  }
  if (words.size() != 3 || words[1] != "predict") throw Usage("goal export ... or goal predict FILE ...");
  network::Listing read = network::read_goal(contents(words[2]));
  Task task = common(options);
  task.topology = options.text("topology", "flat:" + std::to_string(read.ranks()));
  const auto net = topology(task.topology, {});
  line(prediction(std::move(read), task, *net));
}

void run(const Options& options) {
  const std::string what = options.words().empty() ? "" : options.words()[0];
  if (what == "list")
    std::cout << list();
  else if (what == "predict" && options.words().size() == 1)
    each(options, [](const Task& task, const network::Topology& net) { line(prediction(task, net)); });
  else if (what == "check" && options.words().size() == 1)
    each(options, [](const Task& task, const network::Topology& net) { line(verdict(task, net)); });
  else if (what == "goal")
    goal(options);
  else if (what == "patterns" || what == "pattern")
    patterns(options);
  else if (what == "stages")
    stages(options);
  else
    throw Usage(
        "usage: firstlight-simulate list | predict | check | goal export | goal predict FILE | patterns | pattern NAME "
        "[pairs|check|predict|goal] | stages NAME, with "
        "--collective, --topology, --processes, ...");
}

}  // namespace

int main(int argc, char** argv) {
#ifdef M_MMAP_MAX  // with the GNU C library, memory that one evaluation frees goes to the next one, not to the system, which would clear it
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
  try {
    run(Options(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "firstlight-simulate: " << error.what() << '\n';
    return 2;
  }
  return 0;
}
