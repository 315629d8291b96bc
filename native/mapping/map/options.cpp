#include "options.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <thread>

namespace map {

using fl::mapping::Wrong;

namespace {

double number(const std::string& key, std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
    throw Wrong("--" + key + " should be a number in its range, not '" + std::string(text) + "'");
  return value;
}

double whole(const std::string& key, std::string_view text, double least, double most) {
  const double value = number(key, text, least, most);
  if (value != std::floor(value)) throw Wrong("--" + key + " should be a whole number, not '" + std::string(text) + "'");
  return value;
}

std::vector<fl::mapping::Node> nodes(const std::string& key, std::string_view text) {
  std::vector<fl::mapping::Node> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    found.push_back(static_cast<fl::mapping::Node>(whole(key, text.substr(0, end), 0, 1 << 27)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace

Task task_of(int argc, char** argv) {
  Task task;
  task.effort.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  using Set = std::function<void(const std::string& key, const std::string& value)>;
  const auto text = [](std::string& to) -> Set { return [&to](const std::string&, const std::string& value) { to = value; }; };
  const auto real = [](double& to, double least, double most) -> Set {
    return [&to, least, most](const std::string& key, const std::string& value) { to = number(key, value, least, most); };
  };
  const auto integer = []<class T>(T& to, double least, double most) -> Set {
    return [&to, least, most](const std::string& key, const std::string& value) { to = static_cast<T>(whole(key, value, least, most)); };
  };
  const auto some_nodes = [](std::vector<fl::mapping::Node>& to) -> Set {
    return [&to](const std::string& key, const std::string& value) { to = nodes(key, value); };
  };
  const std::map<std::string, Set> options{
      {"pattern", text(task.pattern)},
      {"named", text(task.named)},
      {"processes", integer(task.processes, 1, 1 << 24)},
      {"parameters", [&](const std::string&, const std::string& value) { task.parameters = words(value); }},
      {"topology", text(task.ground.topology)},
      {"per-node", integer(task.ground.per_node, 1, 1 << 20)},
      {"inside", text(task.ground.inside)},
      {"inside-speed", real(task.ground.inside_speed, 1e-3, 1e6)},
      {"holes", some_nodes(task.ground.holes)},
      {"faulty", some_nodes(task.ground.faulty)},
      {"seconds", real(task.effort.seconds, 0, 1e6)},
      {"moves", integer(task.effort.moves, 0, 1e12)},
      {"starts", integer(task.effort.starts, 0, 1000)},
      {"threads", integer(task.effort.threads, 1, 1024)},
      {"seed", integer(task.effort.seed, 0, 0x1p53)},
      {"memory", real(task.effort.memory, 1, 1e15)},
      {"machine", text(task.machine)},
      {"map", text(task.given)},
      {"keep", text(task.keep)},
  };
  const std::map<std::string, bool*> flags{{"--by-links", &task.by_links}, {"--small", &task.small}, {"--whole", &task.whole}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--unsimulated") {
      task.simulate = false;
    } else if (flags.contains(word)) {
      *flags.at(word) = true;
    } else {
      if (!word.starts_with("--") || i + 1 == argc) throw Wrong("usage: firstlight-map --pattern FILE --topology SPEC [--key value ...]");
      const auto option = options.find(word.substr(2));
      if (option == options.end()) throw Wrong("unknown option " + word);
      option->second(option->first, argv[++i]);
    }
  }
  if (task.pattern.empty() == task.named.empty() || task.ground.topology.empty())
    throw Wrong("--pattern FILE or --named PATTERN, and --topology are required");
  return task;
}

std::string contents(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) throw Wrong("cannot read " + path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

fl::mapping::Map read_map(const std::string& text) {
  fl::mapping::Map map;
  const char *at = text.data(), *const end = at + text.size();
  while (at < end) {
    fl::mapping::Slot slot = 0;
    const auto [stop, error] = std::from_chars(at, end, slot);
    if (error != std::errc() || stop == end || *stop != '\n')
      throw Wrong("line " + std::to_string(map.size() + 1) + " of the map is not a slot");
    map.push_back(slot);
    at = stop + 1;
  }
  return map;
}

void write_map(const std::string& path, const fl::mapping::Map& map) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary);
  for (const fl::mapping::Slot slot : map) file << slot << '\n';
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) throw Wrong("cannot write " + path);
}

}  // namespace map
