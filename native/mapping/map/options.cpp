#include "options.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
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
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--unsimulated") {
      task.simulate = false;
      continue;
    }
    if (word == "--by-links") {
      task.by_links = true;
      continue;
    }
    if (word == "--small") {
      task.small = true;
      continue;
    }
    if (word == "--whole") {
      task.whole = true;
      continue;
    }
    if (!word.starts_with("--") || i + 1 == argc) throw Wrong("usage: firstlight-map --pattern FILE --topology SPEC [--key value ...]");
    const std::string key = word.substr(2), value = argv[++i];
    if (key == "pattern")
      task.pattern = value;
    else if (key == "named")
      task.named = value;
    else if (key == "processes")
      task.processes = static_cast<std::int32_t>(whole(key, value, 1, 1 << 24));
    else if (key == "parameters")
      task.parameters = words(value);
    else if (key == "topology")
      task.ground.topology = value;
    else if (key == "per-node")
      task.ground.per_node = static_cast<fl::mapping::Node>(whole(key, value, 1, 1 << 20));
    else if (key == "inside")
      task.ground.inside = value;
    else if (key == "inside-speed")
      task.ground.inside_speed = number(key, value, 1e-3, 1e6);
    else if (key == "holes")
      task.ground.holes = nodes(key, value);
    else if (key == "faulty")
      task.ground.faulty = nodes(key, value);
    else if (key == "seconds")
      task.effort.seconds = number(key, value, 0, 1e6);
    else if (key == "moves")
      task.effort.moves = static_cast<std::int64_t>(whole(key, value, 0, 1e12));
    else if (key == "starts")
      task.effort.starts = static_cast<int>(whole(key, value, 0, 1000));
    else if (key == "threads")
      task.effort.threads = static_cast<int>(whole(key, value, 1, 1024));
    else if (key == "seed")
      task.effort.seed = static_cast<std::uint64_t>(whole(key, value, 0, 0x1p53));
    else if (key == "memory")
      task.effort.memory = number(key, value, 1, 1e15);
    else if (key == "machine")
      task.machine = value;
    else if (key == "map")
      task.given = value;
    else if (key == "keep")
      task.keep = value;
    else
      throw Wrong("unknown option --" + key);
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
