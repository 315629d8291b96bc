// The other half of metadata.hpp: names and contents before a step, and the check.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "metadata.hpp"

namespace metadata {

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const auto files = static_cast<double>(parties_of(team, traits) * p.files);
  constexpr double block = 4096;  // of a file system: the least that a file and its entry need
  return fl::lacks_storage(p.target, files * (static_cast<double>(p.bytes) + 2 * block), files + static_cast<double>(team.ranks) + 2);
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.p = p, s.team = team, s.parties = parties_of(team, traits);
  s.folder = fl::Folder(p.target);
  const Index here = s.parties / team.ranks, node = s.parties / team.nodes;
  s.mine = std::vector<Party>(static_cast<std::size_t>(here));
  for (Index k = 0; k < here; ++k) {
    Party& party = s.mine[static_cast<std::size_t>(k)];
    party.me = team.rank * here + k;
    party.other = (party.me + (team.nodes > 1 ? node : 1)) % s.parties;
    party.contents = std::vector<char>(static_cast<std::size_t>(p.files * s.whole()));
    party.buffer = std::vector<char>(static_cast<std::size_t>(s.whole()));
    if (mkdirat(s.folder.descriptor(), s.directory(party.me).c_str(), 0700) != 0 && errno != EEXIST) fl::storage_failed(p.target, "mkdir");
  }
  fl::barrier();
}

// --- before a step --------------------------------------------------------------------------------------------------------

inline Content content(const State& s, Index party, Index k, Index step) { return {s.number(party, k), step}; }

// What a party must have seen of the files of another one in a step.
struct Expected {
  Word words = 0, names = 0;
};
inline Expected expected(const State& s, const Party& party, Index step) {
  Expected all;
  for (Index k = 0; k < s.p.files; ++k) {
    const Content is = content(s, party.other, k, step);
    for (Index at = 0; at + 8 <= s.p.bytes; at += 8) all.words += is.word(at);
  }
  const Index from = s.p.layout == Layout::one_directory ? 0 : s.number(party.other, 0);
  for (Index n = from; n < from + s.listed(); ++n) all.names += digest((std::to_string(n) + "." + std::to_string(step)).c_str());
  return all;
}

inline void compare(const State& s, const Party& party, Index step, fl::ErrorSummary& found) {
  const Expected all = expected(s, party, step);
  const auto wrong = [&](const char* what) {
    return [&, what] { return fl::text("process or thread %lld saw wrong %s in step %lld", party.me, what, step); };
  };
  if (party.sizes != s.p.files * s.p.bytes) found.add(wrong("sizes"));
  if (party.words != all.words) found.add(wrong("contents"));
  if (party.names != all.names || party.entries != s.listed()) found.add(wrong("names"));
  if (party.refused > 0) found.add(wrong("files: some were missing, or there before"));
}

// Compares what the last step saw, before its names are replaced.
inline void settle(State& s) {
  if (s.stepped)
    for (const Party& party : s.mine) compare(s, party, s.iteration, s.mistakes);
  s.stepped = false;
}

inline Index mutate_between_batches(State& s, Index next) {
  settle(s);
  s.next = next;
  return next;
}

inline void reset(State& s) {
  settle(s);
  for (Party& party : s.mine) {
    party.sizes = party.entries = party.refused = 0;
    party.words = party.names = 0;
    party.own.clear(), party.foreign.clear(), party.renamed.clear();
    for (Index k = 0; k < s.p.files; ++k) {
      party.own.push_back(s.file(party.me, k, s.next));
      party.foreign.push_back(s.file(party.other, k, s.next));
      party.renamed.push_back(party.own.back() + ".renamed");
      content(s, party.me, k, s.next).fill(party.contents.data() + k * s.whole(), s.whole(), 0);
    }
  }
  ++s.next;
}

// --- the check ------------------------------------------------------------------------------------------------------------

inline std::set<std::string> names_in(const State& s, const std::string& directory) {
  const int file = openat(s.folder.descriptor(), directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(file < 0 ? nullptr : fdopendir(file), &closedir);
  if (entries == nullptr) fl::storage_failed(s.p.target, "opendir");
  std::set<std::string> names;
  while (const dirent* entry = ::readdir(entries.get()))
    if (entry->d_name[0] != '.') names.insert(directory + "/" + entry->d_name);
  return names;
}

// "" or what is wrong with a file of a party.
inline std::string wrong_file(const State& s, const Party& party, const std::string& name, Index k, Index step) {
  const int file = s.folder.open(name, O_RDONLY);
  if (file < 0) return name + " is missing";
  std::vector<char> bytes(static_cast<std::size_t>(s.p.bytes + 1)), wanted(static_cast<std::size_t>(s.whole()));
  const ssize_t there = pread(file, bytes.data(), bytes.size(), 0);
  close(file);
  content(s, party.me, k, step).fill(wanted.data(), s.whole(), 0);
  if (there != s.p.bytes) return fl::text("%s has %lld bytes instead of %lld", name.c_str(), static_cast<Index>(there), s.p.bytes);
  return std::equal(bytes.begin(), bytes.end() - 1, wanted.begin()) ? "" : name + " does not contain the written bytes";
}

// Looks at the files of a party after a phase.
inline void audit(const State& s, const Party& party, int phase, Index step, fl::ErrorSummary& found) {
  const std::set<std::string> there = names_in(s, s.directory(party.me));
  const bool shared = s.p.layout == Layout::one_directory;
  const auto many = static_cast<std::size_t>(phase == unlink ? 0 : (shared ? s.parties : 1) * s.p.files);
  if (there.size() != many)
    found.add([&] { return fl::text("%zu files are in %s instead of %zu", there.size(), s.directory(party.me).c_str(), many); });
  if (phase == unlink) return;
  for (Index k = 0; k < s.p.files; ++k) {
    const std::string& name = (phase >= rename ? party.renamed : party.own)[static_cast<std::size_t>(k)];
    if (const std::string wrong = there.contains(name) ? wrong_file(s, party, name, k, step) : name + " is missing"; !wrong.empty())
      found.add([&] { return wrong; });
  }
}

// What a party saw belongs to the phases so far: the time of a phase is that of its own calls.
inline void compare_phase(const Party& party, int phase, fl::ErrorSummary& found) {
  if ((phase < stat && party.sizes != 0) || (phase < open && party.words != 0) || (phase < readdir && party.entries != 0))
    found.add([&] { return fl::text("phase %d of process or thread %lld did the work of a later phase", phase, party.me); });
}

inline fl::Check check(State& s, Index last) {
  const bool stepped = s.stepped;
  settle(s);
  s.iteration = last;
  fl::ErrorSummary found = std::exchange(s.mistakes, {});
  if (!stepped) found.add([] { return std::string("no step was executed"); });
  fl::barrier();
  for (const Party& party : s.mine) audit(s, party, unlink, last, found);
  fl::barrier();
  const Index step = s.next;
  reset(s);
  for (int phase = create; phase <= unlink; ++phase) {
    s.first = s.last = phase;
    fl::run_steps(step, 1);
    fl::barrier();
    for (const Party& party : s.mine) audit(s, party, phase, step, found), compare_phase(party, phase, found);
    fl::barrier();
  }
  s.first = create, s.last = unlink;
  for (const Party& party : s.mine) compare(s, party, step, found);
  s.stepped = false;
  s.iteration = last;
  s.next = last + 1;
  return found.check(fl::text("%lld files of each of %lld processes or threads were exact in each phase", s.p.files, s.parties));
}

}  // namespace metadata
